package disruption

import (
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// A fleet is GitDeliveries made by hand, each for a claim of its own, so that orders come as fast as the provider carries them out.
type fleet struct {
	*scene.Scene

	// ordered is the last revision that was ordered, by name.
	ordered map[string]int64
	// theirs are the unmanaged commits, by message.
	theirs map[string]int
}

// newFleet orders the first revisions.
func newFleet(s *scene.Scene, size int) *fleet {
	s.T.Helper()
	f := &fleet{Scene: s, ordered: map[string]int64{}, theirs: map[string]int{}}
	for n := range size {
		f.requestRevision(fmt.Sprintf("w%d", n))
	}
	return f
}

func (f *fleet) directoryOf(name string) string { return f.Directory("edge1", name) }

func (f *fleet) filesOnBranch(name string) tree.Files {
	says := fmt.Sprintf("%s-%d", name, f.ordered[name])
	return tree.Files{
		"kustomization.yaml": []byte("resources: [a.yaml]\n"),
		"a.yaml":             []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: " + f.Namespace + "}\ndata: {says: " + says + "}\n"),
	}
}

// requestRevision orders the next revision of one.
func (f *fleet) requestRevision(name string) {
	f.T.Helper()
	f.ordered[name]++
	files := f.filesOnBranch(name)
	encoded, err := tree.Encode(files)
	f.Must(err)
	d := &deliveryv1alpha1.GitDelivery{}
	d.SetName(name)
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: scene.Config}
	d.Spec.ForProvider = deliveryv1alpha1.GitDeliveryParameters{
		ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: f.Namespace, Name: name},
		Copy:     load.Copy(f.ordered[name]),
		Position: new(load.Position(f.ordered[name])),
		Trees: []deliveryv1alpha1.Tree{{
			Site: f.Site("edge1"), Branch: "main", Path: f.directoryOf(name), Action: deliveryv1alpha1.ActionDesired,
			Tree: tree.ID(files), Files: encoded,
		}},
	}
	f.Apply(f.NewDelivery(d))
}

// isDelivered is true if a delivery carried out the last order.
func (f *fleet) isDelivered(d *deliveryv1alpha1.GitDelivery) bool {
	last := d.Status.AtProvider.AppliedPosition()
	ready := d.Status.GetCondition(xpv2.TypeReady)
	return isDeliveryReady(d) && last.Revision == f.ordered[d.GetName()] && ready.ObservedGeneration == d.GetGeneration()
}

// awaitAllOrders waits for the end of all orders.
func (f *fleet) awaitAllOrders() {
	f.T.Helper()
	f.Until("all orders carried out", patience.Limit, f.areAllDelivered)
}

// areAllDelivered reports whether each delivery carried out the last order.
func (f *fleet) areAllDelivered() bool {
	f.T.Helper()
	return !slices.ContainsFunc(f.Deliveries(), func(d deliveryv1alpha1.GitDelivery) bool { return !f.isDelivered(&d) })
}

// commitUnmanaged commits beside us. It returns an error if another pusher came first.
func (f *fleet) commitUnmanaged() error {
	message := fmt.Sprintf("Theirs %d", len(f.theirs))
	_, err := f.Git.Commit(f.T.Context(), f.Namespace, "main", map[string]string{fmt.Sprintf("theirs/%d/file", len(f.theirs)): "theirs\n"}, message)
	if err == nil {
		f.theirs[message] = 1
	}
	return err
}

// wantEachCommitOnce fails the test unless each order, and each unmanaged commit, is on the branch once, in one line, and all files have the
// last content of their owners.
func (f *fleet) wantEachCommitOnce() {
	f.T.Helper()
	want, got, log := map[string]int{}, map[string]int{}, f.Commits()
	for name, last := range f.ordered {
		for n := range last {
			want[fmt.Sprintf("intentplane.dev/IntentDeployment %s/%s %d", f.Namespace, name, n+1)] = 1
		}
	}
	for message := range f.theirs {
		want[message] = 1
	}
	for n, c := range log {
		if len(c.Parents) != 1 || n+1 < len(log) && c.Parents[0] != log[n+1].ID {
			f.T.Errorf("the history should be one line, but %s has the parents %v", c.ID, c.Parents)
		}
		subject := strings.TrimSpace(c.Message)
		if claim := c.Trailers["Intentplane-Claim"]; claim != "" {
			subject = claim + " " + c.Trailers["Intentplane-Revision"]
		}
		got[subject]++
	}
	f.WantEqual("commits of the branch", want, got)
	f.wantUntouched()
}

func (f *fleet) wantUntouched() {
	f.T.Helper()
	want, got := map[string]string{"README.md": "Not ours.\n"}, f.Files()
	for n := range len(f.theirs) {
		want[fmt.Sprintf("theirs/%d/file", n)] = "theirs\n"
	}
	for name := range f.ordered {
		for file, content := range f.filesOnBranch(name) {
			want[f.directoryOf(name)+"/"+file] = string(content)
		}
		delete(got, f.directoryOf(name)+"/"+tree.Marker)
	}
	f.WantEqual("files", want, got)
}
