// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// A mark says what became of an expectation.
type mark struct{ sign, color string }

//nolint:gochecknoglobals // Go has no constant structs; nobody changes these.
var (
	markYes  = mark{sign: "✓", color: "32"}
	markNo   = mark{sign: "✗", color: "31"}
	markNone = mark{sign: "-", color: "33"}
)

const (
	// plainWidth is the length of a line where nobody says what fits.
	plainWidth = 120

	// refresh is how often a live screen is drawn again for the sake of its clock.
	refresh = time.Second

	// reassure is how often a plain screen says that a step is still in progress.
	reassure = 10 * time.Second
)

// A screen is where the demo tells its story. On a terminal it is live: below what
// has been said are the step in progress and the table, drawn again in place when
// something changes. Elsewhere it is plain lines, without color or cursor movement,
// and the table is printed when the story comes to it.
//
// A screen is safe for concurrent use.
type screen struct {
	out  io.Writer
	live bool

	// width returns how many characters fit in a line.
	width func() int

	// now returns the time.
	now func() time.Time

	mu sync.Mutex

	// title and began are about the step in progress, if there is one.
	title string
	began time.Time

	// detail is what that step waits for.
	detail string

	// said is when a plain screen last said something about that step.
	said time.Time

	table table

	// drawn is how many lines of the live part are on the terminal.
	drawn int

	// empty says whether the last line was.
	empty bool

	// frame is what the update in progress has written so far. It goes out at once,
	// so that a terminal does not flicker.
	frame strings.Builder
}

// newScreen returns a screen on the supplied file.
func newScreen(f *os.File) *screen {
	s := &screen{out: f, width: func() int { return plainWidth }, now: time.Now}

	fd := int(f.Fd())
	if term.IsTerminal(fd) && os.Getenv("TERM") != "dumb" {
		s.live = true
		s.width = func() int {
			if width, _, err := term.GetSize(fd); err == nil && width > 0 {
				return width
			}

			return plainWidth
		}
	}

	return s
}

// keepUp shows that time passes, until stop is closed.
func (s *screen) keepUp(stop <-chan struct{}) {
	tick := time.NewTicker(refresh)
	defer tick.Stop()

	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			s.update(func() { s.reassure(now) })
		}
	}
}

// reassure says on a plain screen that a slow step is still in progress.
func (s *screen) reassure(now time.Time) {
	if s.live || s.title == "" || now.Sub(s.said) < reassure {
		return
	}

	s.said = now
	s.print(cut(fmt.Sprintf("… %s (%s) %s", s.title, seconds(now.Sub(s.began)), s.detail), s.width()))
}

// say prints lines that stay.
func (s *screen) say(lines ...string) {
	s.update(func() { s.print(lines...) })
}

// begin says that a step is in progress.
func (s *screen) begin(title string) {
	s.update(func() {
		now := s.now()
		s.title, s.detail, s.began, s.said = title, "", now, now
	})
}

// progress says what the step in progress waits for.
func (s *screen) progress(detail string) {
	s.update(func() { s.detail = detail })
}

// end says what became of the step in progress, and how long that took.
func (s *screen) end(m mark) {
	s.update(func() {
		s.print(fmt.Sprintf("%s %s %s", s.paint(m.color, m.sign), s.title, s.paint("2", "("+seconds(s.now().Sub(s.began))+")")))
		s.title, s.detail = "", ""
	})
}

// show replaces the table.
func (s *screen) show(t table) {
	s.update(func() { s.table = t })
}

// showNow prints the table as it is now on a plain screen. On a live one it is
// there all the time.
func (s *screen) showNow() {
	s.update(func() {
		if !s.live && len(s.table) > 0 {
			s.print("")
			s.print(s.table.lines(s.width(), s.paint)...)
			s.print("")
		}
	})
}

// update changes what is on the screen.
func (s *screen) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.live && s.drawn > 0 {
		// Up to the first line of the live part, and clear all below.
		fmt.Fprintf(&s.frame, "\x1b[%dA\x1b[J", s.drawn)
		s.drawn = 0
	}

	change()

	if s.live {
		lines := s.liveLines()
		s.print(lines...)
		s.drawn = len(lines)
	}

	// A demo that nobody can see goes on.
	_, _ = io.WriteString(s.out, s.frame.String())
	s.frame.Reset()
}

// liveLines is the part of a live screen that is drawn again. None of its lines is
// longer than the terminal is wide: it would take more than one line there.
func (s *screen) liveLines() []string {
	width := s.width() - 1

	var lines []string

	if s.title != "" {
		text := fmt.Sprintf("… %s (%s)", s.title, seconds(s.now().Sub(s.began).Truncate(time.Second)))
		lines = append(lines, s.paint("36", cut(text, width)))

		if s.detail != "" {
			lines = append(lines, s.paint("2", "  "+cut(s.detail, width-2)))
		}
	}

	if len(s.table) > 0 {
		lines = append(lines, "")
		lines = append(lines, s.table.lines(width, s.paint)...)
	}

	return lines
}

// print writes lines to the frame. On a plain screen no empty line follows another.
func (s *screen) print(lines ...string) {
	for _, l := range lines {
		if l == "" && s.empty && !s.live {
			continue
		}

		s.empty = l == ""
		s.frame.WriteString(l + "\n")
	}
}

// paint returns the text in the color with the supplied SGR code, if the screen has
// colors.
func (s *screen) paint(color, text string) string {
	if !s.live || color == "" {
		return text
	}

	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// cut returns the text on one line of at most width characters.
func cut(text string, width int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= width {
		return text
	}

	return string([]rune(text)[:max(0, width-1)]) + "…"
}

// seconds returns the duration in seconds with one decimal.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
