package clusters

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRefusedTenants take nothing over, by a ManagedCluster or by a claim: neither a Site of the administrators nor an object in another namespace. Nothing
// is created, and their objects can be deleted.
func TestRefusedTenants(t *testing.T) {
	t.Parallel()
	s, otherTenant := newClusterStage(t), newClusterStage(t)
	theirs := s.administrators(s.Namespace+".taken", "elsewhere/"+s.Namespace)
	parent := s.administrators(s.Namespace+"-parent", "clusters/"+s.Namespace+"/parent")
	hand := s.clusterByHand()
	hand.SetName("by-hand")
	s.Set(hand, true, "spec", "paused")
	for _, o := range []*unstructured.Unstructured{theirs, parent, hand} {
		s.Apply(o)
	}
	topologyWith := func(value any, fields ...string) map[string]any {
		o := &unstructured.Unstructured{Object: s.describeTopology()}
		s.Set(o, value, fields...)
		return o.Object
	}
	cases := map[string]struct {
		reason string
		name   string
		spec   map[string]any
		want   string
	}{
		"SiteName": {
			reason: "A tenant cannot publish under the name of an administrators' Site.",
			spec:   topologyWith(map[string]any{"publish": true, "name": parent.GetName()}, "site"), want: "PolicyDenied: spec.forProvider.site.name",
		},
		"SameName": {
			reason: "A tenant cannot take over a Site of an administrator that has the tenant's default name.",
			name:   "taken", spec: topologyWith(map[string]any{"publish": true}, "site"), want: "PolicyDenied: Site " + theirs.GetName(),
		},
		"Path": {
			reason: "A tenant cannot name a directory outside of the namespace's directories.",
			spec:   topologyWith(map[string]any{"publish": true, "repository": map[string]any{"path": "elsewhere"}}, "site"),
			want:   "PolicyDenied: spec.forProvider.site.repository.path",
		},
		"Inside": {reason: "A tenant cannot name a directory inside the directory of another Site.", spec: topologyWith(map[string]any{"publish": true, "repository": map[string]any{
			"path": "clusters/" + s.Namespace + "/parent/child",
		}}, "site"), want: "PolicyDenied: spec.forProvider.site.repository.path"},
		"Class": {
			reason: "A cluster of another namespace's class is refused.",
			spec:   topologyWith(map[string]any{"name": clusterapi.ClassName, "namespace": otherTenant.Namespace}, "topology", "classRef"),
			want:   "PolicyDenied: spec.forProvider.topology.classRef.namespace",
		},
		"Cluster": {
			reason: "A tenant cannot name a cluster of another namespace.",
			spec:   topologyWith(map[string]any{"name": name, "namespace": otherTenant.Namespace}, "cluster"),
			want:   "PolicyDenied: spec.forProvider.cluster.namespace",
		},
		"Template": {reason: "A tenant cannot use a template that no administrator allows.", spec: map[string]any{
			"cluster": map[string]any{"name": name}, "type": "CAPT", "version": version, "capt": map[string]any{
				"region": "eu-west-1", "vpc": map[string]any{"existingID": "vpc-1"},
				"controlPlane": map[string]any{"templateRef": map[string]any{"name": "eks", "namespace": otherTenant.Namespace}},
			},
		}, want: "PolicyDenied: spec.forProvider.capt.controlPlane.templateRef.namespace"},
		"ByHand": {
			reason: "The provider does not adopt a cluster that a user created.",
			spec:   topologyWith(map[string]any{"name": hand.GetName()}, "cluster"), want: "NameTaken",
		},
	}
	previous := []*unstructured.Unstructured{s.Now(theirs), s.Now(parent)}
	for name, tc := range cases {
		s.Case(name, func(tenantScene *scene.Scene) {
			s := &stage{Scene: tenantScene}
			if tc.name == "" {
				tc.name = strings.ToLower(name)
			}
			mc := s.describeManaged(tc.name, tc.spec)
			s.Apply(mc)
			s.awaitMessage(mc, "Ready", tc.want)
			s.Delete(mc)
			s.awaitObjectGone(mc)
			if namespace, _, _ := unstructured.NestedString(tc.spec, "cluster", "namespace"); namespace != "" {
				return // A claim does not have this field.
			}
			wc := s.describeWorkload(tc.name, tc.spec)
			s.Apply(wc)
			reason, _, _ := strings.Cut(tc.want, ":")
			s.awaitObject(wc, "is refused: "+reason, func(u *unstructured.Unstructured) bool { return scene.Is(u, "Valid", corev1.ConditionFalse, reason) })
			s.Delete(wc)
			s.awaitObjectGone(wc)
		})
	}
	current := []*unstructured.Unstructured{s.Now(theirs), s.Now(parent)}
	if diff := cmp.Diff(previous, current); diff != "" {
		t.Errorf("the administrators' Sites: -before, +after:\n%s", diff)
	}
	s.wantNotDeleted(hand)
	for _, in := range []*stage{s, otherTenant} {
		if w := in.writesOfUser(provider); len(w) > 0 {
			t.Errorf("the provider wrote objects: %+v", w)
		}
	}
}

// TestTenantRights has the role edit not reach around the claims.
func TestTenantRights(t *testing.T) {
	t.Parallel()
	s := newClusterStage(t)
	s.Inside("create", "rolebinding", "tenant", "--clusterrole=edit", "--user=tenant")
	s.Until("the role has its rules", patience.Limit, func() bool { return s.isTenantAllowed("get", "managedclusters.cluster.intentplane.dev") })
	for _, resource := range []string{"managedclusters.cluster.intentplane.dev", "sites.catalog.intentplane.dev", "clusterproviderconfigs.config.intentplane.dev", "clusters.cluster.x-k8s.io"} {
		for _, verb := range []string{"create", "update", "patch", "delete"} {
			if s.isTenantAllowed(verb, resource) {
				t.Errorf("a tenant may %s %s", verb, resource)
			}
		}
	}
}

// TestDeletedEarly ends, in whatever phase the cluster is.
func TestDeletedEarly(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		claimed bool
		until   func(s *stage, mc *unstructured.Unstructured)
	}{
		"Unseen": {reason: "A cluster is deleted that was never observed.", until: func(*stage, *unstructured.Unstructured) {}},
		"Made": {reason: "The deletion comes when only the Cluster exists.", until: func(s *stage, _ *unstructured.Unstructured) {
			s.awaitObject(s.clusterNamed(), "is there", func(*unstructured.Unstructured) bool { return true })
		}},
		"Uninitialized": {reason: "The deletion comes when the infrastructure exists, and the control plane does not.", until: func(s *stage, _ *unstructured.Unstructured) {
			s.awaitObject(s.clusterNamed(), "is provisioned", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Provisioned" })
		}},
		"Claimed": {reason: "A user deletes a claim while the cluster is built.", claimed: true, until: func(s *stage, wc *unstructured.Unstructured) {
			s.awaitObject(s.clusterNamed(), "is there", func(*unstructured.Unstructured) bool { return true })
			s.awaitObject(wc, "is provisioning", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Provisioning" })
		}},
		"Deleting": {reason: "The deletion comes after another user deleted the Cluster.", until: func(s *stage, _ *unstructured.Unstructured) {
			s.awaitObject(s.clusterNamed(), "is there", func(*unstructured.Unstructured) bool { return true })
			s.Delete(s.clusterNamed())
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newClusterStage(t)
			mc := s.describeManaged("mine", s.describeTopology())
			requested := mc
			if tc.claimed {
				requested = s.describeWorkload("mine", s.describeTopology())
			}
			s.Apply(requested)
			tc.until(s, requested)
			s.Delete(requested)
			s.awaitObjectGone(requested)
			s.awaitObjectGone(mc)
			s.awaitObjectGone(s.clusterNamed())
			s.wantOnlyOurWrites(0)
		})
	}
}
