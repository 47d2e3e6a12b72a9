package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// captCluster returns a CAPTCluster with an owner's label, the digest of a desired state, and a spec.
func captCluster(owner, digest string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"kind": KindCAPTCluster, "spec": spec,
		"metadata": map[string]any{"name": "c1", "labels": map[string]any{"owner": owner}, "annotations": map[string]any{"applied": digest}},
	}}
}

func TestChange(t *testing.T) {
	begun := func(spec map[string]any) map[string]any {
		spec["workspaceTemplateApplyName"] = "c1-vpc"
		return spec
	}
	want := captCluster("a", "2", map[string]any{"region": "eu-west-1"})
	cases := map[string]struct {
		reason    string
		live      *unstructured.Unstructured
		isApplied bool
		ignored   []string
	}{
		"Missing": {reason: "An object that does not exist is applied.", isApplied: true},
		"Equal":   {reason: "An object with the desired state is not applied.", live: captCluster("a", "2", begun(map[string]any{"region": "eu-west-1"}))},
		"Waiting": {
			reason: "A change is applied before CAPT begins.",
			live:   captCluster("a", "1", map[string]any{"region": "eu-central-1"}), isApplied: true,
		},
		"Begun": {
			reason: "CAPT ignores a changed field after it began, so the change is reported and not applied.",
			live:   captCluster("a", "1", begun(map[string]any{"region": "eu-central-1"})), ignored: []string{"CAPTCluster c1: spec.region"},
		},
		"Withdrawn": {
			reason:  "An optional field that is not desired any more is a change, too.",
			live:    captCluster("a", "1", begun(map[string]any{"region": "eu-west-1", "existingVpcId": "vpc-1"})),
			ignored: []string{"CAPTCluster c1: spec.existingVpcId"},
		},
		"Label": {
			reason: "A label of another owner is replaced after CAPT began.",
			live:   captCluster("b", "2", begun(map[string]any{"region": "eu-west-1"})), isApplied: true,
		},
		"Digest": {
			reason: "A digest alone is not applied after CAPT began.",
			live:   captCluster("a", "1", begun(map[string]any{"region": "eu-west-1"})),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ignored := Change(tc.live, want)
			if diff := cmp.Diff(tc.ignored, ignored); diff != "" || (got != nil) != tc.isApplied {
				t.Errorf("\n%s\nChange(...): applied %t, ignored: -want, +got:\n%s", tc.reason, got != nil, diff)
			}
		})
	}
}

func TestContainsAll(t *testing.T) {
	live := map[string]any{
		"a": int64(1), "b": []any{map[string]any{"x": "y", "defaulted": true}}, "others": "too",
		"named": []any{map[string]any{"name": "theirs", "value": "v"}, map[string]any{"name": "ours", "value": "v"}},
	}
	cases := map[string]struct {
		reason string
		want   any
		is     bool
	}{
		"Part": {reason: "Fields that others added do not matter.", want: map[string]any{"a": float64(1)}, is: true},
		"List": {
			reason: "Fields that others added to an element of a list do not matter.",
			want:   map[string]any{"b": []any{map[string]any{"x": "y"}}}, is: true,
		},
		"Other":      {reason: "A value that differs from the desired value is noticed.", want: map[string]any{"a": int64(2)}},
		"False":      {reason: "A desired false equals an absent field.", want: map[string]any{"c": false}, is: true},
		"True":       {reason: "A desired true differs from an absent field.", want: map[string]any{"c": true}},
		"Absent":     {reason: "An absent field differs from a desired value.", want: map[string]any{"c": "d"}},
		"ListLonger": {reason: "A list with fewer elements than desired is noticed.", want: map[string]any{"b": []any{map[string]any{"x": "y"}, "z"}}},
		"Named": {
			reason: "Elements of other names in the same list do not matter.",
			want:   map[string]any{"named": []any{map[string]any{"name": "ours", "value": "v"}}}, is: true,
		},
		"NamedOther": {
			reason: "A desired element is compared with the observed element of its name.",
			want:   map[string]any{"named": []any{map[string]any{"name": "ours", "value": "w"}}},
		},
		"NamedNone": {
			reason: "A desired element whose name is absent is noticed.",
			want:   map[string]any{"named": []any{map[string]any{"name": "new", "value": "v"}}},
		},
		"Empty":     {reason: "A list that has to be empty and is not is noticed.", want: map[string]any{"named": []any{}}},
		"OtherForm": {reason: "A list differs from a desired map.", want: map[string]any{"others": map[string]any{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := containsAll(live, tc.want); got != tc.is {
				t.Errorf("\n%s\ncontainsAll(): got %t", tc.reason, got)
			}
		})
	}
}
