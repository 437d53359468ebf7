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
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

func TestControllerOptions(t *testing.T) {
	t.Parallel()

	// told has the options of controllers.
	type told struct {
		Workers              int
		Poll, Measure        time.Duration
		Policies, ChangeLogs bool
	}

	cases := map[string]struct {
		reason string
		o      *Options
		want   told
	}{
		"Values": {
			reason: "Every value reaches the controllers.",
			o:      &Options{MaxReconcileRate: 7, PollInterval: 2 * time.Minute, PollStateMetricInterval: 3 * time.Second},
			want:   told{Workers: 7, Poll: 2 * time.Minute, Measure: 3 * time.Second},
		},
		"ManagementPolicies": {
			reason: "The flag enables management policies.",
			o:      &Options{MaxReconcileRate: 1, EnableManagementPolicies: true},
			want:   told{Workers: 1, Policies: true},
		},
		"ChangeLogs": {
			reason: "So does the one of change logs.",
			o:      &Options{MaxReconcileRate: 1, EnableChangeLogs: true, ChangeLogsSocketPath: "/s"},
			want:   told{Workers: 1, ChangeLogs: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			co, err := controllerOptions(tc.o, prometheus.NewRegistry(), logging.NewNopLogger())
			if err != nil {
				t.Fatal(err)
			}

			got := told{
				Workers:    co.MaxConcurrentReconciles,
				Poll:       co.PollInterval,
				Measure:    co.MetricOptions.PollStateMetricInterval,
				Policies:   co.Features.Enabled(feature.EnableBetaManagementPolicies),
				ChangeLogs: co.Features.Enabled(feature.EnableAlphaChangeLogs) && co.ChangeLogOptions != nil,
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ncontrollerOptions(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

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
