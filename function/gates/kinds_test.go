package gates

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestEachBlockHasItsKind sets each block of a check that the API has: a type that is added there needs an entry in kinds.
func TestEachBlockHasItsKind(t *testing.T) {
	checkType := reflect.TypeFor[deploymentv1alpha1.Check]()
	blocks := 0
	for i := range checkType.NumField() {
		f := checkType.Field(i)
		if f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct {
			continue
		}
		blocks++
		c := &deploymentv1alpha1.Check{}
		reflect.ValueOf(c).Elem().Field(i).Set(reflect.New(f.Type.Elem()))
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		k, err := kindOfCheck(c)
		if diff := cmp.Diff(name, k.block); diff != "" || err != nil || k.allow == nil {
			t.Errorf("kindOf(check with %s): -want, +got:\n%s\nerror %v, allow is set: %t", name, diff, err, k.allow != nil)
		}
	}
	if diff := cmp.Diff(blocks, len(kindsOfChecks())); diff != "" {
		t.Errorf("kinds: -blocks of the API, +kinds:\n%s", diff)
	}
	if _, err := kindOfCheck(&deploymentv1alpha1.Check{}); err == nil || err.Error() != "type: one of prometheus, job, web, availability must be set" {
		t.Errorf("kindOf(check without a block): %v", err)
	}
}

func TestLead(t *testing.T) {
	cases := map[string]struct {
		reason string
		check  deploymentv1alpha1.Check
		want   time.Duration
	}{
		"Window": {
			reason: "A query that looks back needs a revision that is live for longer than that.",
			check:  checkWithQuery("rate(x[5m])"), want: 5*time.Minute + time.Second,
		},
		"Unreadable": {reason: "A query that cannot be read has no lead.", check: checkWithQuery("x[")},
		"Web":        {reason: "An answer of a web server is about the present.", check: check{Web: &deploymentv1alpha1.WebCheck{}}},
		"Pods":       {reason: "A check of pods looks at the present only.", check: check{Availability: &deploymentv1alpha1.AvailabilityCheck{}}},
		"NoBlock":    {reason: "A check without a block has no lead.", check: check{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Lead(&tc.check)); diff != "" {
				t.Errorf("\n%s\nLead(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
