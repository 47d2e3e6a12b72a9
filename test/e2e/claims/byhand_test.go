package claims

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/scene"
)

func TestForgedDeliveries(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	s.Apply(s.Set(s.NewSite("theirs"), []any{"team-b"}, "spec", "allowedNamespaces"))
	s.Apply(s.Set(s.ClusterProviderConfig(), []any{"team-b"}, "spec", "policy", "allowedNamespaces"))
	cases := forgedPlaces()
	maps.Copy(cases, forgedFiles())
	for name, tc := range cases {
		s.Case(name, func(s *scene.Scene) {
			d := deliveryByHand(s)
			d.SetName(strings.ToLower(name))
			tc.change(s, d)
			d.Spec.ForProvider.Trees[0].Path = strings.ReplaceAll(d.Spec.ForProvider.Trees[0].Path, "NAMESPACE", s.Namespace)
			o := s.NewDelivery(d)
			s.Apply(o)
			observed := s.Await(o, "not Ready for "+string(tc.why), func(u *unstructured.Unstructured) bool {
				return scene.Is(u, "Ready", corev1.ConditionFalse, string(tc.why))
			})
			if got := scene.Condition(observed, "Ready").Message; !strings.Contains(got, tc.want) {
				s.T.Errorf("\n%s\nthe message does not say %q: %q", tc.reason, tc.want, got)
			}
		})
	}
	refs, err := s.Git.Refs(t.Context(), s.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"refs/heads/main"}, scene.Names(refs)); diff != "" || len(s.Commits()) != 0 {
		t.Errorf("the repository was written: %d commits, refs: -want, +got:\n%s", len(s.Commits()), diff)
	}
}

// A delivery that is refused above is refused for its one fault: without it the same delivery succeeds.
func TestHonestDelivery(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	o := s.NewDelivery(deliveryByHand(s))
	s.Apply(o)
	s.Await(o, "Ready", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Ready", corev1.ConditionTrue, "Delivered")
	})
	want := map[string]string{"a.yaml": strings.ReplaceAll(configMap, "NAMESPACE", s.Namespace), "kustomization.yaml": kustomized}
	got := s.FilesBelow(s.Directory("edge1", "shop"))
	delete(got, tree.Marker)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files in Git: -want, +got:\n%s", diff)
	}
}
