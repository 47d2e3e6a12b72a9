package gate

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestEachBlockHasItsKind sets each block of a check that the API has: a type that is added there needs an entry in kinds.
func TestEachBlockHasItsKind(t *testing.T) {
	checkType := reflect.TypeFor[deploymentv1alpha1.Check]()
	blocks, want := []string{}, []string{}
	for i := range checkType.NumField() {
		f := checkType.Field(i)
		if f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		want = append(want, name)
		c := v1alpha1.GateCheck{}
		reflect.ValueOf(&c.Check).Elem().Field(i).Set(reflect.New(f.Type.Elem()))
		for _, k := range listCheckKinds() {
			if !k.isSet(&c) {
				continue
			}
			c.Type = k.name
			if _, err := kindOfCheck(c); err != nil || (k.ask == nil) == (k.run == nil) || k.allow == nil {
				t.Errorf("kindOfCheck(check with %s): error %v, and it needs allow and either ask or run", name, err)
			}
			blocks = append(blocks, name)
		}
	}
	if diff := cmp.Diff(want, blocks); diff != "" || len(blocks) != len(listCheckKinds()) {
		t.Errorf("blocks that have a kind: -want, +got:\n%s", diff)
	}
}

func TestKindOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		check  deploymentv1alpha1.Check
		want   string
	}{
		"Unknown": {
			reason: "The error of an unknown type lists the known types.", check: deploymentv1alpha1.Check{Type: "Magic"},
			want: `type: "Magic" is not one of Prometheus, Job, Web, Availability`,
		},
		"OtherBlock": {
			reason: "A type whose fields are not set is refused.", check: deploymentv1alpha1.Check{Type: "Web", Job: &deploymentv1alpha1.JobCheck{}},
			want: "type: the fields of type Web are not set",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if _, err := kindOfCheck(v1alpha1.GateCheck{Check: tc.check}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nkindOf(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
