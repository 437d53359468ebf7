// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

var errAway = errors.New("the API server is away")

// A fault decides the result of the requests of one instance.
type fault int

const (
	// refused requests fail at once.
	refused fault = iota + 1
	// hanging requests are never answered.
	hanging
	// unanswered requests reach the API server, but their answer is lost.
	unanswered
)

// An apiServer has one Lease.
type apiServer struct {
	mu      sync.Mutex
	lease   *coordinationv1.Lease
	version int
}

// change the Lease like a person.
func (s *apiServer) change(fn func(l *coordinationv1.Lease) *coordinationv1.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.put(fn(s.lease))
}

func (s *apiServer) put(l *coordinationv1.Lease) {
	s.lease = l
	if l == nil {
		return
	}

	s.version++
	s.lease = l.DeepCopy()
	s.lease.ResourceVersion = strconv.Itoa(s.version)
}

func (s *apiServer) get() *coordinationv1.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.lease.DeepCopy()
}

// An apiClient is a client of the API server, for one instance.
type apiClient struct {
	coordinationv1client.LeaseInterface

	server *apiServer

	mu    sync.Mutex
	fault fault
}

func (c *apiClient) become(f fault) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.fault = f
}

func (c *apiClient) Leases(string) coordinationv1client.LeaseInterface { return c }

// do a request, subject to the current fault.
func (c *apiClient) do(ctx context.Context, request func() (*coordinationv1.Lease, error)) (*coordinationv1.Lease, error) {
	c.mu.Lock()
	f := c.fault
	c.mu.Unlock()

	if f == refused {
		return nil, errAway
	}

	if f == hanging {
		// The client of an instance has a limit.
		ctx, cancel := context.WithTimeout(ctx, standard().RenewDeadline/2)
		defer cancel()

		<-ctx.Done()

		return nil, ctx.Err()
	}

	c.server.mu.Lock()
	defer c.server.mu.Unlock()

	l, err := request()

	if f == unanswered {
		return nil, errAway
	}

	return l.DeepCopy(), err
}

func (c *apiClient) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return c.do(ctx, func() (*coordinationv1.Lease, error) {
		if c.server.lease == nil {
			return nil, kerrors.NewNotFound(schema.GroupResource{Resource: "leases"}, name)
		}

		return c.server.lease, nil
	})
}

func (c *apiClient) Create(ctx context.Context, l *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return c.do(ctx, func() (*coordinationv1.Lease, error) {
		if c.server.lease != nil {
			return nil, kerrors.NewAlreadyExists(schema.GroupResource{Resource: "leases"}, l.Name)
		}

		c.server.put(l)

		return c.server.lease, nil
	})
}

func (c *apiClient) Update(ctx context.Context, l *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return c.do(ctx, func() (*coordinationv1.Lease, error) {
		switch {
		case c.server.lease == nil:
			return nil, kerrors.NewNotFound(schema.GroupResource{Resource: "leases"}, l.Name)
		case c.server.lease.ResourceVersion != l.ResourceVersion:
			return nil, kerrors.NewConflict(schema.GroupResource{Resource: "leases"}, l.Name, errAway)
		}

		c.server.put(l)

		return c.server.lease, nil
	})
}

// A stubFence is armed with the clock of the test.
type stubFence struct {
	mu    sync.Mutex
	armed time.Duration
	err   error
}

// epoch is the time at which every bubble begins.
func epoch() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

func (f *stubFence) Now() (time.Duration, error) { return time.Since(epoch()), f.err }

func (f *stubFence) Arm(at time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.armed = at

	return nil
}

func (f *stubFence) Disarm() error { return f.Arm(0) }

func (f *stubFence) at() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.armed
}

// standard returns the timing of the default flags.
func standard() Timing {
	return Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 2 * time.Second}
}

// patient returns the timing of an instance that may run without a Lease.
func patient() Timing {
	t := standard()
	t.ApplyDuration = 5 * time.Minute

	return t
}

// A candidate is an instance that wants the Lease.
type candidate struct {
	*Lock

	client *apiClient
	fence  *stubFence
	timing Timing
	giveUp time.Duration

	mu       sync.Mutex
	applying bool
	acquired time.Duration
	lostAt   time.Duration
	lostFor  error
	busy     bool
	pauses   []bool
	log      []string
	stop     context.CancelFunc
	stopped  chan struct{}
}

// noProcessFiles are those of a pod whose processes leave none.
type noProcessFiles struct{}

func (noProcessFiles) Begin(string) error { return nil }
func (noProcessFiles) Wrote(string) error { return nil }
func (noProcessFiles) Last(string) string { return "" }
func (noProcessFiles) Remove(string)      {}

func newCandidate(s *apiServer, identity string, t Timing) *candidate {
	c := &candidate{client: &apiClient{server: s}, fence: &stubFence{}, timing: t, giveUp: t.LongestDeadline(), stopped: make(chan struct{})}
	o := LockOptions{
		Applying: func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()

			return c.applying
		},
		Files: noProcessFiles{},
		Log: logging.NewLogrLogger(funcr.New(func(_, line string) {
			c.mu.Lock()
			defer c.mu.Unlock()

			c.log = append(c.log, line)
		}, funcr.Options{})),
	}

	c.Lock = newLock(c.client, namespace, "lease", identity, t, c.fence, func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()

		c.lostAt, c.lostFor = time.Since(epoch()), err
	}, o)

	return c
}

// start leader election, configured like the manager of an instance.
func (c *candidate) start(t *testing.T) *candidate {
	t.Helper()

	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          c.Lock,
		LeaseDuration: c.giveUp + time.Minute,
		RenewDeadline: c.giveUp,
		RetryPeriod:   c.timing.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				c.mu.Lock()
				defer c.mu.Unlock()

				c.acquired = time.Since(epoch())
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	c.stop = cancel

	go func() {
		defer close(c.stopped)

		e.Run(ctx)
	}()

	return c
}

// end leader election.
func (c *candidate) end() {
	c.stop()
	<-c.stopped
}

// mayPause lets the candidate pause, unless it is busy.
func (c *candidate) mayPause(busy bool) *candidate {
	c.busy = busy
	c.giveUp = 24 * time.Hour

	c.options.Pause = func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()

		if !c.busy {
			c.pauses = append(c.pauses, true)
		}

		return !c.busy
	}
	c.options.Resume = func() {
		c.mu.Lock()
		defer c.mu.Unlock()

		c.pauses = append(c.pauses, false)
	}

	return c
}

func (c *candidate) apply(in bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.applying = in
}

// events returns the times at which the candidate got the Lease and lost it.
func (c *candidate) events() (acquired, lost time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.acquired, c.lostAt, c.lostFor
}

// until waits until the supplied time.
func until(at time.Duration) {
	<-time.After(at - time.Since(epoch()))
	synctest.Wait()
}
