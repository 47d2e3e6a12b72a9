package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A printer prints events for a person.
type printer struct{ out io.Writer }

func (p printer) printTitle(s string) {
	p.printLinef("\n%s", s)
}

// printLinef prints a line. It ignores an error: the reader has closed the output.
func (p printer) printLinef(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, strings.TrimRight(format, "\n")+"\n", args...)
}

func (p printer) printStarted(phase string, took time.Duration) {
	p.printLinef("  %5.1fs %s", took.Seconds(), phase)
}

// printWaitReason names the component that the start waits for.
func (p printer) printWaitReason(description string) {
	for _, line := range wrapText(description, columns-len("  ")) {
		p.printLinef("  %s", line)
	}
}

func (p printer) printApplied(u *unstructured.Unstructured) {
	p.printLinef("  %s %s", u.GetKind(), u.GetName())
}

func (p printer) printClaimPhase(elapsed time.Duration, u *unstructured.Unstructured) {
	phase := phaseOfObject(u)
	if phase == "" {
		phase = "(applied)"
	}
	revision, _, _ := unstructured.NestedInt64(u.Object, "status", "revision")
	commit, _, _ := unstructured.NestedString(u.Object, "status", "delivery", "shortCommit")
	sites, _, _ := unstructured.NestedString(u.Object, "status", "delivery", "sitesReady")
	line := fmt.Sprintf("  %5.1fs %-12s", elapsed.Seconds(), phase)
	if revision > 0 {
		line += fmt.Sprintf(" revision %d", revision)
	}
	if commit != "" {
		line += " commit " + commit
	}
	if sites != "" {
		line += " sites " + sites
	}
	p.printLinef("%s", line)
}
