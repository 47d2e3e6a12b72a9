package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A printer tells the story to a person.
type printer struct{ out io.Writer }

func (p printer) title(s string) {
	p.linef("\n%s", s)
}

// linef prints a line. Nothing can be done, or need be done, when nobody reads it.
func (p printer) linef(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, strings.TrimRight(format, "\n")+"\n", args...)
}

func (p printer) started(phase string, took time.Duration) {
	p.linef("  %5.1fs %s", took.Seconds(), phase)
}

// waits says what the start waits for.
func (p printer) waits(what string) {
	for _, line := range wrap(what, columns-len("  ")) {
		p.linef("  %s", line)
	}
}

func (p printer) applied(u *unstructured.Unstructured) {
	p.linef("  %s %s", u.GetKind(), u.GetName())
}

func (p printer) moved(after time.Duration, u *unstructured.Unstructured) {
	phase := phaseOf(u)
	if phase == "" {
		phase = "(applied)"
	}
	revision, _, _ := unstructured.NestedInt64(u.Object, "status", "revision")
	commit, _, _ := unstructured.NestedString(u.Object, "status", "delivery", "shortCommit")
	sites, _, _ := unstructured.NestedString(u.Object, "status", "delivery", "sitesReady")
	line := fmt.Sprintf("  %5.1fs %-12s", after.Seconds(), phase)
	if revision > 0 {
		line += fmt.Sprintf(" revision %d", revision)
	}
	if commit != "" {
		line += " commit " + commit
	}
	if sites != "" {
		line += " sites " + sites
	}
	p.linef("%s", line)
}
