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

const (
	// plainWidth is the length of a line if the output is not a terminal.
	plainWidth = 120

	// refresh is how often a live screen is drawn again for the sake of its clock.
	refresh = time.Second

	// reassure is the interval of messages about a step in progress on a plain screen.
	reassure = 10 * time.Second
)

// A screen shows the progress of the demo. On a terminal it is live: the step in progress
// and the table are below the printed lines, and are redrawn in place when they change.
// Elsewhere it prints plain lines, without color or cursor movement, and prints the table
// only after the steps that ask for it.
//
// A screen is safe for concurrent use.
type screen struct {
	out   io.Writer
	live  bool
	width func() int
	now   func() time.Time

	mu    sync.Mutex
	title string
	began time.Time

	// detail is the condition that the step waits for.
	detail string

	// said is the time of the last message about that step on a plain screen.
	said time.Time

	table table

	// bars says that the number of Workspaces of each shard is shown below the table.
	bars bool

	// drawn is how many lines of the live part are on the terminal.
	drawn int

	// empty says whether the last line was.
	empty bool

	// frame collects the output of the update in progress. It is written at once, so that
	// a terminal does not flicker.
	frame strings.Builder
}

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

// reassure prints a message about a slow step on a plain screen.
func (s *screen) reassure(now time.Time) {
	if s.live || s.title == "" || now.Sub(s.said) < reassure {
		return
	}

	s.said = now
	s.print(cut(fmt.Sprintf("… %s (%s) %s", s.title, seconds(now.Sub(s.began)), s.detail), s.width()))
}

func (s *screen) say(lines ...string) {
	s.update(func() { s.print(lines...) })
}

func (s *screen) begin(title string) {
	s.update(func() {
		now := s.now()
		s.title, s.detail, s.began, s.said = title, "", now, now
	})
}

func (s *screen) progress(detail string) {
	s.update(func() { s.detail = detail })
}

// end prints the step in progress with a mark that stands for its result.
func (s *screen) end(color, mark string) {
	s.update(func() {
		s.print(fmt.Sprintf("%s %s %s", s.paint(color, mark), s.title, s.paint("2", "("+seconds(s.now().Sub(s.began))+")")))
		s.title, s.detail = "", ""
	})
}

func (s *screen) show(t table) {
	s.update(func() { s.table = t })
}

// showNow prints the table on a plain screen. A live screen always shows it.
func (s *screen) showNow() {
	s.update(func() {
		if !s.live && len(s.table) > 0 {
			s.print("")
			s.print(s.tableLines(s.width())...)
			s.print("")
		}
	})
}

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

	// A write error does not end the demo.
	_, _ = io.WriteString(s.out, s.frame.String())
	s.frame.Reset()
}

// liveLines returns the part of a live screen that is redrawn. No line is longer than the
// width of the terminal: it would take more than one line there.
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
		lines = append(lines, s.tableLines(width)...)
	}

	return lines
}

func (s *screen) tableLines(width int) []string {
	lines := s.table.lines(width, s.paint)
	if s.bars {
		lines = append(append(lines, ""), s.table.bars(width, s.paint)...)
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

// paint returns the text in the color with the supplied SGR code, if the screen has colors.
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

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
