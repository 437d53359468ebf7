// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package fence kills this process before another instance may take over its work.
package fence

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Constants of the kernel that golang.org/x/sys/unix does not have.
const (
	sigevSignal  = 0 // SIGEV_SIGNAL: the expiry of a timer sends a signal.
	timerAbstime = 1 // TIMER_ABSTIME: a timer expires at a time, not after one.
)

// A Fence is a timer in the kernel that kills this process with SIGKILL at a deadline, unless the
// deadline is moved in time. The CLI processes of this provider die with their parent.
//
// A timer in the process itself could not do that. SIGSTOP, a frozen container, or a machine
// without CPU time for the process stops it together with the process, while the children of the
// process may continue. When the process continues, it executes its next instruction before it
// learns that minutes have passed. The clock of the kernel timer runs on while the machine is
// suspended. The timer cannot kill the init process of a container: that needs a minimal init in
// front of it.
//
// The zero value does not work: see New. Methods of a Fence must not be called concurrently.
type Fence struct {
	timer uint32
}

// New returns a Fence that does nothing until it is armed for the first time.
func New() (*Fence, error) {
	// The layout of struct sigevent: the value in the signal, the number of the signal, the way of
	// delivery, and room for the fields of other ways.
	event := struct {
		value  uintptr
		signo  int32
		notify int32
		_      [48]byte
	}{signo: int32(unix.SIGKILL), notify: sigevSignal}

	f := &Fence{}
	//nolint:gosec // This is how the kernel wants its arguments.
	if _, _, errno := unix.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&f.timer))); errno != 0 {
		return nil, fmt.Errorf("cannot create timer: %w", errno)
	}

	return f, nil
}

// Now returns the time on the clock of the Fence, for Arm. It is not the time of day.
func (f *Fence) Now() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, fmt.Errorf("cannot read clock: %w", err)
	}

	return time.Duration(ts.Nano()), nil
}

// Arm makes the Fence kill this process at the supplied time on its clock. It replaces any
// earlier time. A time that has passed kills at once.
func (f *Fence) Arm(at time.Duration) error {
	// Zero would disarm it.
	return f.set(max(at, 1))
}

// Disarm makes the Fence do nothing until it is armed again.
func (f *Fence) Disarm() error { return f.set(0) }

func (f *Fence) set(at time.Duration) error {
	spec := struct{ interval, value unix.Timespec }{value: unix.NsecToTimespec(int64(at))}
	//nolint:gosec // This is how the kernel wants its arguments.
	if _, _, errno := unix.Syscall6(unix.SYS_TIMER_SETTIME, uintptr(f.timer), timerAbstime, uintptr(unsafe.Pointer(&spec)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("cannot set timer: %w", errno)
	}

	return nil
}
