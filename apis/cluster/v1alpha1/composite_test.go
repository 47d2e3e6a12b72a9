package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestPublished(t *testing.T) {
	isController := true
	composed := &ManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "prod", UID: "own", OwnerReferences: []metav1.OwnerReference{{UID: "xr", Controller: &isController}}}}
	byHand := &ManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "prod", UID: "own"}}
	owner := func(namespace, uid string) *catalogv1alpha1.SiteOwner {
		return &catalogv1alpha1.SiteOwner{APIGroup: Group, Kind: "ManagedCluster", Namespace: namespace, Name: "prod", UID: uid}
	}
	cases := map[string]struct {
		reason      string
		mc          *ManagedCluster
		owner       *catalogv1alpha1.SiteOwner
		annotations map[string]string
		want        bool
	}{
		"Own": {reason: "A Site that names the UID of a ManagedCluster was published by it.", mc: byHand, owner: owner("team-a", "own"), want: true},
		"Before": {
			reason: "A Site of the same composite was published by the ManagedCluster before this one.",
			mc:     composed, owner: owner("team-a", "before"), annotations: composed.Marks(), want: true,
		},
		"Unmarked": {reason: "A Site that names another UID and no composite was published by another one.", mc: composed, owner: owner("team-a", "before")},
		"Elsewhere": {
			reason: "A mark counts only for a ManagedCluster of the namespace and name that the Site names.",
			mc:     composed, owner: owner("team-b", "before"), annotations: composed.Marks(),
		},
		"NotComposed": {
			reason: "A ManagedCluster without a composite takes up no Site by an empty mark.",
			mc:     byHand, owner: owner("team-a", "before"), annotations: map[string]string{MarkComposite: ""},
		},
		"Unowned": {reason: "A Site without an owner was published by no ManagedCluster.", mc: composed},
		"AnotherGroup": {
			reason: "A Site with an owner of another API group was published by no ManagedCluster.",
			mc:     byHand, owner: &catalogv1alpha1.SiteOwner{APIGroup: "example.org", UID: "own"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}, Spec: catalogv1alpha1.SiteSpec{Owner: tc.owner}}
			if diff := cmp.Diff(tc.want, tc.mc.Published(s)); diff != "" {
				t.Errorf("\n%s\nPublished(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
