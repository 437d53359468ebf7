// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A Fence ends this process at a time on its own clock, unless that time is moved.
type Fence interface {
	Now() (time.Duration, error)
	Arm(at time.Duration) error
	Disarm() error
}

// Options of a Session. All are required.
type Options struct {
	// Kube reads from the API server and writes to it.
	Kube client.Client

	// Namespace of the Lease.
	Namespace string

	ID     shard.ID
	Holder string // The identity of this process.
	Timing Timing
	Fence  Fence

	// Assignable lets Workspaces without a label be assigned to this shard.
	Assignable bool

	// Record notes the name of the Lease for the next process in this pod, before the Lease is made.
	Record func(lease string) error

	// Over is called when the session is over, once. It must not block.
	Over func(error)

	Log logging.Logger
}

// A Session is the session of this process. It begins and interrupts the runs of the CLI: there is none
// when others may end the session. It is safe for concurrent use.
//
// A process that cannot renew its session in time interrupts its runs, and can go on when it has renewed
// the session. If it has to read that the session has ended, the session is over, for ever.
type Session struct {
	o   Options
	key client.ObjectKey

	// lease is the Lease as this process has last written or read it. Only Renew and End use it.
	lease *coordinationv1.Lease

	// begun asks for a renewal at once, because an apply has begun.
	begun chan struct{}

	// mu is never held during a request.
	mu       sync.Mutex
	renewals renewals
	over     error

	// deadline is when runs are interrupted, and fenced when the kernel kills this process if it still has
	// a run, on the clock of the fence. timer fires at the deadline.
	deadline, fenced time.Duration
	timer            *time.Timer

	// runs are the runs in progress, and applies how many of them change infrastructure.
	runs    map[*run]struct{}
	applies int
}

// A run is one process of the CLI.
type run struct {
	apply     bool
	interrupt context.CancelCauseFunc
}

// Open makes the Lease of a new session. It fails if the API server does not answer in time. The Lease
// that it may have made then expires.
func Open(ctx context.Context, o Options) (*Session, error) {
	s := &Session{
		o:     o,
		key:   client.ObjectKey{Namespace: o.Namespace, Name: NamePrefix + o.ID.Instance() + "-" + random()},
		begun: make(chan struct{}, 1),
		runs:  map[*run]struct{}{},
	}

	if err := o.Record(s.key.Name); err != nil {
		o.Log.Info("If this process is killed, the next one in this pod will wait until the session has expired", "error", err)
	}

	now, err := o.Fence.Now()
	if err != nil {
		return nil, err
	}

	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
	s.label(l)

	l.Spec = coordinationv1.LeaseSpec{
		HolderIdentity:       &o.Holder,
		LeaseDurationSeconds: seconds(o.Timing.Duration),
		LeaseTransitions:     new(int32),
		AcquireTime:          new(metav1.NowMicro()),
		RenewTime:            new(metav1.NowMicro()),
	}

	ctx, cancel := context.WithTimeout(ctx, o.Timing.request())
	defer cancel()

	if err := o.Kube.Create(ctx, l); err != nil {
		return nil, errors.Wrapf(err, "cannot create Lease %s", s.key)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.lease = l
	s.renewals.renewed(l, now, o.Timing.Duration)

	return s, s.extend(now, o.Timing.Duration)
}

// Claim returns the claim of this process.
func (s *Session) Claim() commonv1beta1.Claim {
	return commonv1beta1.Claim{
		Namespace:      s.key.Namespace,
		Lease:          s.key.Name,
		Holder:         s.o.Holder,
		Instance:       s.o.ID.Instance(),
		LongestSeconds: int64(s.o.Timing.Longest() / time.Second),
	}
}

// Renew renews the session until ctx is done or the session is over.
func (s *Session) Renew(ctx context.Context) {
	for ctx.Err() == nil && s.Err() == nil {
		pause := s.o.Timing.RetryPeriod

		switch edited, err := s.renew(ctx); {
		case edited:
			continue
		case err != nil:
			s.o.Log.Info("Cannot renew the session, trying again", "lease", s.key, "error", err)

			pause = apiwait.Jitter(pause/2, 1)
		}

		select {
		case <-ctx.Done():
		case <-s.begun:
		case <-time.After(pause):
		}
	}
}

// renew makes one attempt. It returns true if a person has edited the Lease meanwhile.
func (s *Session) renew(ctx context.Context) (edited bool, err error) {
	now, duration, err := s.attempt()
	if err != nil {
		return false, err
	}

	l := s.lease.DeepCopy()
	s.stamp(l, duration)

	ctx, cancel := context.WithTimeout(ctx, s.o.Timing.request())
	defer cancel()

	err = s.o.Kube.Update(ctx, l)
	if err == nil {
		s.lease = l

		s.mu.Lock()
		defer s.mu.Unlock()

		s.renewals.renewed(l, now, duration)

		return false, s.extend(now, duration)
	}

	if !kerrors.IsConflict(err) && !kerrors.IsNotFound(err) {
		return false, err
	}

	if l, err = s.read(ctx); err != nil {
		return false, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	if now, err = s.o.Fence.Now(); err != nil {
		return false, err
	}

	switch s.renewals.refused(l, now, s.o.Timing) {
	case again:
		s.lease = l

		return true, nil
	case renewed:
		s.lease = l

		return false, s.extend(s.renewals.start, s.renewals.duration)
	case over:
	}

	s.end(errors.Errorf("the session of this instance is over: its Lease %s has ended, or was deleted or put back", s.key))

	return false, nil
}

// label sets the labels by which others find the Lease. A person may have removed them.
func (s *Session) label(l *coordinationv1.Lease) {
	metav1.SetMetaDataLabel(&l.ObjectMeta, shard.InstanceLabelKey, s.o.ID.Instance())

	if s.o.Assignable {
		metav1.SetMetaDataLabel(&l.ObjectMeta, shard.AssignableLabelKey, "true")
	}
}

// stamp makes a Lease that was read the next one of this session.
func (s *Session) stamp(l *coordinationv1.Lease, duration time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()

	l.Spec.HolderIdentity = &s.o.Holder
	l.Spec.LeaseDurationSeconds = seconds(duration)
	l.Spec.LeaseTransitions = new(s.renewals.count + 1)
	l.Spec.RenewTime = new(metav1.NowMicro())
	delete(l.Annotations, shard.ReleasedAnnotationKey)
	s.label(l)
}

// attempt begins a renewal. Others count from when they see it, and that is later.
func (s *Session) attempt() (now, duration time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if now, err = s.o.Fence.Now(); err != nil {
		return 0, 0, err
	}

	duration = s.o.Timing.Duration
	if s.applies > 0 {
		duration = s.o.Timing.Longest()
	}

	s.renewals.attempt(now, duration)

	// Even without an answer, others may see the shorter duration from now on.
	if now+s.o.Timing.fenced(duration) < s.fenced {
		err = s.extend(now, duration)
	}

	return now, duration, err
}

// extend moves the deadline to that of a renewal that started at the supplied time. The caller holds mu.
func (s *Session) extend(start, duration time.Duration) error {
	s.deadline, s.fenced = start+s.o.Timing.deadline(duration), start+s.o.Timing.fenced(duration)

	if len(s.runs) > 0 {
		if err := s.o.Fence.Arm(s.fenced); err != nil {
			return err
		}
	}

	now, err := s.o.Fence.Now()
	if err != nil {
		return err
	}

	if s.timer == nil {
		s.timer = time.AfterFunc(s.deadline-now, s.expire)
	} else {
		s.timer.Reset(s.deadline - now)
	}

	return nil
}

// expire interrupts the runs at the deadline. A renewal may have moved it while the timer fired.
func (s *Session) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()

	if err := s.mayRun(); err != nil {
		s.interrupt(err)
	}
}

func (s *Session) interrupt(err error) {
	if len(s.runs) > 0 {
		s.o.Log.Info("Interrupting what is in progress, because other instances may take over", "error", err)
	}

	for r := range s.runs {
		r.interrupt(err)
	}
}

// mayRun returns an error if no run may begin now. The caller holds mu.
func (s *Session) mayRun() error {
	if s.over != nil {
		return s.over
	}

	now, err := s.o.Fence.Now()
	if err == nil && now >= s.deadline {
		err = errors.Errorf("the session of this instance could not be renewed: its Lease %s", s.key)
	}

	return err
}

// MayRun returns an error if no run may begin now: this process could not renew its session in time.
func (s *Session) MayRun() error {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.mayRun()
}

// Begin begins a run, which changes infrastructure if it is an apply. It returns a context that ends when
// the run has to be interrupted, and a function that is to be called when no process of the run is
// left. It fails if no run may begin.
func (s *Session) Begin(ctx context.Context, apply bool) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if err := s.mayRun(); err != nil {
		return nil, nil, err
	}

	// This process may be stopped at any moment. If it goes on after the fence was due, the kernel kills
	// it when the fence is armed.
	if err := s.o.Fence.Arm(s.fenced); err != nil {
		return nil, nil, err
	}

	r := &run{apply: apply}
	ctx, r.interrupt = context.WithCancelCause(ctx)
	s.runs[r] = struct{}{}

	if apply {
		s.applies++

		// Another apply, or one that has just ended, may have renewed it with the long duration already.
		if s.renewals.least() < s.o.Timing.Longest() {
			select {
			case s.begun <- struct{}{}:
			default:
			}
		}
	}

	return ctx, func() { s.done(r) }, nil
}

// done ends a run.
func (s *Session) done(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()

	r.interrupt(nil)
	delete(s.runs, r)

	if r.apply {
		s.applies--
	}

	if len(s.runs) == 0 {
		// A fence that stays armed ends this process too early, and nothing else.
		_ = s.o.Fence.Disarm()
	}
}

// end makes the session over. The caller holds mu.
func (s *Session) end(err error) {
	if s.over == nil {
		s.over = err
		s.interrupt(err)
		s.o.Over(err)
	}
}

// Err returns why the session is over, or nil if it is not.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.over
}

// End writes the end of the session, so that others may take its Workspaces at once. No run may be left,
// and Renew must have returned. If it fails, others wait until the session expires.
func (s *Session) End(ctx context.Context) error {
	var err error

	_ = apiwait.PollUntilContextCancel(ctx, s.o.Timing.RetryPeriod/4, true, func(ctx context.Context) (bool, error) {
		var l *coordinationv1.Lease
		if l, err = s.read(ctx); err == nil {
			err = writeEnd(ctx, s.o.Kube, s.key, l, s.o.Holder, s.o.ID.Instance())
		}

		return err == nil, nil
	})

	return errors.Wrapf(err, "cannot end session %s in time", s.key)
}

// EndProven writes the end of the session of an earlier process of this pod, which has no process any more.
// It returns false if there is no such Lease.
func EndProven(ctx context.Context, kube client.Client, key client.ObjectKey, holder string) (bool, error) {
	found := false

	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		l, err := get(ctx, kube, key)
		if found = err == nil && l != nil; !found {
			return err
		}

		return writeEnd(ctx, kube, key, l, holder, "")
	})

	return found, errors.Wrapf(err, "cannot end session %q of an earlier process", key)
}

// read returns the Lease, or nil if there is none.
func (s *Session) read(ctx context.Context) (*coordinationv1.Lease, error) {
	return get(ctx, s.o.Kube, s.key)
}

// get returns a Lease, or nil if there is none. Only the API server knows that: something in between may answer any
// request with the same code.
func get(ctx context.Context, kube client.Reader, key client.ObjectKey) (*coordinationv1.Lease, error) {
	l := &coordinationv1.Lease{}

	err := kube.Get(ctx, key, l)
	if kerrors.IsNotFound(err) && !kerrors.IsUnexpectedServerError(err) {
		return nil, nil //nolint:nilnil // A missing Lease is an answer.
	}

	return l, errors.Wrapf(err, "cannot get Lease %q", key)
}

// writeEnd writes the end of a session, if its Lease is unchanged since it was read as l, or nil if there
// was none.
func writeEnd(ctx context.Context, kube client.Writer, key client.ObjectKey, l *coordinationv1.Lease, holder, instance string) error {
	if l != nil && hasEnded(l) {
		return nil
	}

	if l == nil {
		l = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		metav1.SetMetaDataLabel(&l.ObjectMeta, shard.InstanceLabelKey, instance)
		end(l, holder)

		return kube.Create(ctx, l)
	}

	l = l.DeepCopy()
	end(l, holder)

	return kube.Update(ctx, l)
}
