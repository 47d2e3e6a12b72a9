package claims

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

func TestMissingThingsAppear(t *testing.T) {
	t.Parallel()
	for name, tc := range selectorsOfAbsentObjects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			claim := s.Claim("shop", intentWithReplicas(s, 2, "edge1"))
			tc.change(s, claim)
			awaitMissing(s, claim, tc.why)
			t.Logf("%s The message says %q.", tc.reason, tc.want)
			s.Await(claim, "the message names the existing objects", func(u *unstructured.Unstructured) bool {
				return strings.Contains(scene.Condition(u, "SitesFound").Message, tc.want)
			})
			s.AwaitCommits(0)
			s.Apply(tc.later(s))
			awaitSucceededUnchanged(s, claim)
			s.AwaitCommits(1)
		})
	}
}

// No user can distinguish a forbidden Site from a missing Site.
func TestForbiddenSiteLooksMissing(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	const secret = "not-to-be-seen"
	forbidden := s.Set(s.NewSite("forbidden"), []any{"somebody-else"}, "spec", "allowedNamespaces")
	s.Set(forbidden, map[string]any{"region": secret}, "metadata", "labels")
	s.Set(forbidden, "clusters/"+secret, "spec", "repository", "path")
	s.Apply(forbidden)
	messages := map[string]string{}
	for _, site := range []string{"forbidden", "nowhere"} {
		observed := awaitMissing(s, s.Claim(site, intentWithReplicas(s, 1, site)), "SiteMissing")
		messages[site] = strings.ReplaceAll(scene.Condition(observed, "SitesFound").Message, s.Site(site), "SITE")
		if all := fmt.Sprint(observed.Object["status"], s.XR(observed).Object); strings.Contains(all, secret) {
			t.Errorf("the status shows more than the name of a forbidden Site: %s", all)
		}
	}
	s.AwaitCommits(0)
	if deliveries := s.Deliveries(); len(deliveries) > 0 {
		t.Errorf("a forbidden Site has a delivery: %d GitDeliveries", len(deliveries))
	}
	if messages["forbidden"] != messages["nowhere"] {
		t.Errorf("the message of a forbidden Site differs from the message of a missing Site: %q", messages)
	}
	s.Apply(s.Set(forbidden, []any{"somebody-else", s.Namespace}, "spec", "allowedNamespaces"))
	awaitSucceededUnchanged(s, s.Claim("forbidden", ""))
}
