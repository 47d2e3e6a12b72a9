package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/advice"
)

// declaredReasons are the reasons that the code declares, by what gives them.
func declaredReasons(t *testing.T) map[advice.Kind][]string {
	t.Helper()
	out := map[advice.Kind][]string{}
	for _, dir := range []string{"apis", "provider"} {
		all, err := readConstants(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range conditionSections() {
			for _, c := range all {
				if s.isAboutConstant(c) && kindOfConstant(c) != "type" {
					out[s.kind] = append(out[s.kind], c.value)
				}
			}
		}
	}
	for k := range out {
		slices.Sort(out[k])
		out[k] = slices.Compact(out[k])
	}
	return out
}

// TestAdvice holds for the table of advice: each reason that the code declares has advice, and there is none about anything else.
func TestAdvice(t *testing.T) {
	all := declaredReasons(t)
	for _, k := range advice.Kinds() {
		if diff := cmp.Diff(all[k], advice.Reasons(k)); diff != "" {
			t.Errorf("The reasons of %s that have advice: -declared, +advised:\n%s", k, diff)
		}
	}
	if len(all) != len(advice.Kinds()) {
		t.Errorf("the code declares reasons of %v, and there is advice about %v", slices.Sorted(maps.Keys(all)), advice.Kinds())
	}
}

// TestAdvisedTable holds for the tables of the reference: a reason has who acts, and what to do.
func TestAdvisedTable(t *testing.T) {
	got := adviceTable(advice.GitDelivery, []constant{
		{name: "ReasonAuthFailed", value: "AuthFailed", doc: "means no."}, {name: "ReasonUnreachable", value: "Unreachable", doc: "means away."},
	})
	for _, want := range []string{
		"| reason | | who acts | action |", "| `AuthFailed` | means no. | the platform team | Correct the credentials",
		"| means away. | the owner of the repository, if it lasts | Wait",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in:\n%s", want, got)
		}
	}
}
