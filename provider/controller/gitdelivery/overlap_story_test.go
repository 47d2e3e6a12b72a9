package gitdelivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/overlap"
)

// rendered are the files of one ConfigMap, named as a rendered one is.
func rendered(namespace, name string) tree.Files {
	file := "configmap-" + name + ".yaml"
	return tree.Files{
		"kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [" + file + "]\n"),
		file:                 []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + namespace + "}\n"),
	}
}

// inTracks are files in the folder of a track.
func inTracks(f tree.Files) tree.Files {
	out := tree.Files{"kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [blue]\n")}
	for name, content := range f {
		out["blue/"+name] = content
	}
	return out
}

// claiming describes the delivery of a claim, which brings one ConfigMap to edge1.
func (w *world) claiming(claim string, f tree.Files) *v1alpha1.GitDelivery {
	w.Helper()
	b, err := tree.Encode(f)
	w.must(err)
	d := delivery(claim, order(1, claim), v1alpha1.Tree{
		Site: "edge1", Branch: "main", Path: "clusters/edge1/team-a/" + claim, Layout: catalogv1alpha1.LayoutKustomization,
		Action: v1alpha1.ActionDesired, Tree: tree.ID(f), Encoding: v1alpha1.EncodingGzipTar, Files: b,
	})
	d.Spec.ForProvider.ClaimRef.Name = claim
	return d
}

// message of the delivery's Ready condition.
func (w *world) message(name string) string {
	w.Helper()
	return w.get(name).GetCondition(xpv2.TypeReady).Message
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Same": {reason: "The later of two claims that bring one object to a Site is refused, and both are named", run: func(w *world) {
			w.create(w.claiming("first", rendered("team-a", "shop")))
			w.reconcile("first")
			w.create(w.claiming("second", rendered("team-a", "shop")))
			w.reconcile("second")
			w.expect("second", v1alpha1.ReasonObjectConflict)
			want := `claim team-a/second may not deliver ConfigMap team-a/shop to Site "edge1": claim team-a/first delivers it there already. ` +
				"Give the service another name, or remove it from the other claim"
			if diff := cmp.Diff(want, w.message("second")); diff != "" {
				w.Errorf("-want, +got:\n%s", diff)
			}
			w.holds(map[string]tree.Files{"clusters/edge1/team-a/first": rendered("team-a", "shop")}, nil)
		}},
		"Restarted": {reason: "A restarted provider reads the objects of each claim from Git, and no timeout ends the wait.", run: func(w *world) {
			w.create(w.claiming("first", rendered("team-a", "shop")))
			w.reconcile("first")
			w.restart()
			w.create(w.claiming("second", rendered("team-a", "shop")))
			w.reconcile("second")
			w.pass(20 * time.Minute)
			w.reconcile("second")
			w.expect("second", v1alpha1.ReasonObjectConflict)
		}},
		"Ends": {reason: "A claim that was refused is delivered when the other one is gone", run: func(w *world) {
			w.create(w.claiming("first", rendered("team-a", "shop")))
			w.reconcile("first")
			w.create(w.claiming("second", rendered("team-a", "shop")))
			w.reconcile("second")
			w.must(w.kube.Delete(w.Context(), w.get("first")))
			w.reconcile("first")
			w.reconcile("second")
			w.expect("second", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{"clusters/edge1/team-a/second": rendered("team-a", "shop")}, nil)
		}},
		"Tracks": {reason: "An object in the folder of a track is found, for either claim with tracks.", run: func(w *world) {
			w.create(w.claiming("first", inTracks(rendered("team-a", "shop"))))
			w.reconcile("first")
			w.expect("first", v1alpha1.ReasonDelivered)
			w.create(w.claiming("second", rendered("team-a", "shop")))
			w.reconcile("second")
			w.expect("second", v1alpha1.ReasonObjectConflict)
			w.create(w.claiming("third", rendered("team-a", "bank")))
			w.reconcile("third")
			w.expect("third", v1alpha1.ReasonDelivered)
			w.create(w.claiming("fourth", inTracks(rendered("team-a", "bank"))))
			w.reconcile("fourth")
			w.expect("fourth", v1alpha1.ReasonObjectConflict)
		}},
		"Another": {reason: "Claims that bring objects of other names, kinds or namespaces do not disturb each other", run: func(w *world) {
			s := &catalogv1alpha1.Site{}
			w.must(w.kube.Get(w.Context(), types.NamespacedName{Name: "edge1"}, s))
			s.Spec.TargetNamespaces.Allowed = []string{"{claimNamespace}", "other"}
			w.must(w.kube.Update(w.Context(), s))
			for name, f := range map[string]tree.Files{"first": rendered("team-a", "shop"), "second": rendered("team-a", "bank"), "third": rendered("other", "shop")} {
				w.create(w.claiming(name, f))
				w.reconcile(name)
				w.expect(name, v1alpha1.ReasonDelivered)
			}
		}},
		"Namespaces": {reason: "A tenant does not learn the name of a claim of another namespace", run: func(w *world) {
			s := &catalogv1alpha1.Site{}
			w.must(w.kube.Get(w.Context(), types.NamespacedName{Name: "edge1"}, s))
			s.Spec.TargetNamespaces.Allowed, s.Spec.AllowedNamespaces = []string{"shared"}, []string{"team-a", "team-b"}
			w.must(w.kube.Update(w.Context(), s))
			theirs := w.claiming("hidden", rendered("shared", "shop"))
			theirs.Namespace, theirs.Spec.ForProvider.ClaimRef.Namespace = "team-b", "team-b"
			theirs.Spec.ForProvider.Trees[0].Path = "clusters/edge1/team-b/hidden"
			w.create(theirs)
			_, err := w.reconciler().Reconcile(w.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(theirs)})
			w.must(err)
			w.create(w.claiming("second", rendered("shared", "shop")))
			w.reconcile("second")
			w.expect("second", v1alpha1.ReasonObjectConflict)
			if got := w.message("second"); strings.Contains(got, "hidden") || !strings.Contains(got, "a claim of another namespace delivers it there already") {
				w.Errorf("got message %q", got)
			}
		}},
		"Orphaned": {reason: "The message says of a directory that a deleted claim left behind how to get rid of it.", run: func(w *world) {
			w.create(w.claiming("first", rendered("team-a", "shop")))
			w.reconcile("first")
			w.lose("first")
			w.create(w.claiming("second", rendered("team-a", "shop")))
			w.reconcile("second")
			w.expect("second", v1alpha1.ReasonObjectConflict)
			if got, want := w.message("second"), "claim team-a/first delivered it there, was deleted, and left its directory"; !strings.Contains(got, want) {
				w.Errorf("Ready: want a message with %q, got %q", want, got)
			}
		}},
		"Unreadable": {reason: "A file of another claim that cannot be read does not stop a claim.", run: func(w *world) {
			w.push(map[string]string{
				"clusters/edge1/team-a/first/.intentplane": "x", "clusters/edge1/team-a/first/configmap-shop.yaml": strings.Repeat("0", 90<<20),
			})
			w.create(w.claiming("second", rendered("team-a", "shop")))
			w.reconcile("second")
			w.expect("second", v1alpha1.ReasonDelivered)
		}},
		"Many": {reason: "Nothing is written before all files are compared, of which one look reads some.", run: func(w *world) {
			otherFiles := map[string]string{}
			for n := range 2*overlap.MaxRead + 6 {
				dir := fmt.Sprintf("clusters/edge1/team-a/a%03d/", n)
				otherFiles[dir+tree.Marker] = "x"
				otherFiles[dir+"configmap-shop.yaml"] = string(rendered(fmt.Sprintf("other-%d", n), "shop")["configmap-shop.yaml"])
			}
			last := fmt.Sprintf("clusters/edge1/team-a/a%03d/configmap-shop.yaml", 2*overlap.MaxRead+5)
			otherFiles[last] = string(rendered("team-a", "shop")["configmap-shop.yaml"])
			w.push(otherFiles)
			w.create(w.claiming("second", rendered("team-a", "shop")))
			for range 2 {
				w.reconcile("second")
				w.expect("second", v1alpha1.ReasonPushing)
			}
			w.reconcile("second")
			w.expect("second", v1alpha1.ReasonObjectConflict)
		}},
	})
}
