// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
)

// TestReadProc compares the CPU time that the system reports for this process with that of its
// child.
func TestReadProc(t *testing.T) {
	t.Parallel()

	_, before, _, err := readProc(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}

	cmd := exec.CommandContext(t.Context(), "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}

	_, after, rss, err := readProc(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}

	used := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if got := after - before; got < used-2*clockTick {
		t.Errorf("children have used %g s, of which one has used %g s", got, used)
	}

	if rss < 1<<20 {
		t.Errorf("the largest RSS is %d bytes", rss)
	}
}

func TestScrape(t *testing.T) {
	t.Parallel()

	const text = `# TYPE runs_total counter
runs_total{command="plan",result="error"} 1
runs_total{command="plan",result="success"} 20
runs_total{command="apply",result="success"} 3e+02
# TYPE heap gauge
heap 1.5e+07
`

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
	defer server.Close()

	s, err := scrape(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}

	for _, tc := range []struct {
		reason string
		want   float64
		got    float64
	}{
		{reason: "All series of a name count.", want: 321, got: s.sum("runs_total", "")},
		{reason: "A command chooses.", want: 21, got: s.sum("runs_total", "plan")},
		{reason: "A series may have no labels.", want: 1.5e7, got: s.sum("heap", "")},
		{reason: "A missing counter is zero.", want: 0, got: s.sum("polls_total", "")},
	} {
		if tc.got != tc.want {
			t.Errorf("%s Want %g, got %g", tc.reason, tc.want, tc.got)
		}
	}
}
