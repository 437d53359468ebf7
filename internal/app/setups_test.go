// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestSetups stops an instance during a setup.
func TestSetups(t *testing.T) {
	t.Parallel()

	s := &setups{}
	ctx, shutdown := context.WithCancel(t.Context())

	stop, cancel := s.stopAfter(ctx)
	defer cancel()

	errBoom := errors.New("boom")

	if err := s.do(func() error {
		shutdown()

		select {
		case <-stop.Done():
			t.Error("the manager stops during a setup")
		case <-time.After(100 * time.Millisecond):
		}

		return errBoom
	}); !errors.Is(err, errBoom) {
		t.Errorf("do(...): want the error of the setup, got %v", err)
	}

	<-stop.Done()

	if err := s.do(func() error {
		t.Error("a setup begins after the stop")

		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestStopDuringSetups stops managers while runnables are added to them. Without setups, some of
// them do not end.
func TestStopDuringSetups(t *testing.T) {
	t.Parallel()

	for range 50 {
		unlimited := time.Duration(-1)

		mgr, err := manager.New(&rest.Config{}, manager.Options{
			Scheme: runtime.NewScheme(),
			MapperProvider: func(_ *rest.Config, _ *http.Client) (meta.RESTMapper, error) {
				return meta.NewDefaultRESTMapper(nil), nil
			},
			Logger:                  logr.Discard(),
			Metrics:                 metricsserver.Options{BindAddress: "0"},
			GracefulShutdownTimeout: &unlimited,
		})
		if err != nil {
			t.Fatal(err)
		}

		s := &setups{}
		ctx, shutdown := context.WithCancel(t.Context())
		stop, cancel := s.stopAfter(ctx)
		ended := make(chan error, 1)

		go func() { ended <- mgr.Start(stop) }()

		<-mgr.Elected()

		var adding sync.WaitGroup
		for range 20 {
			adding.Go(func() {
				if err := s.do(func() error {
					return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
						<-ctx.Done()

						return nil
					}))
				}); err != nil {
					t.Error(err)
				}
			})
		}

		shutdown()

		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("the manager does not end")
		}

		adding.Wait()
		cancel()
	}
}
