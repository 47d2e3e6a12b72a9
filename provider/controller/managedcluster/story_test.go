package managedcluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

const ready = "Ready"

// settle until a CAPT cluster is ready.
func settled(t *testing.T, change ...func(*v1alpha1.ManagedClusterParameters)) *world {
	t.Helper()
	w := newWorld(t)
	w.install()
	p := captSpec()
	for _, fn := range change {
		fn(&p)
	}
	w.create(p)
	w.until("Provisioning")
	w.built()
	w.until(ready)
	return w
}

func TestCAPTCluster(t *testing.T) {
	w := newWorld(t)
	w.create(captSpec())
	w.until("KindMissing")
	w.install()
	w.until("Provisioning")
	if diff := cmp.Diff([]string{"apply CAPTCluster", "apply CAPTControlPlane", "apply Cluster"}, w.did[:3]); diff != "" {
		t.Errorf("what was applied, in order: -want, +got:\n%s", diff)
	}
	specs := map[string]any{}
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		o := w.live(kind)
		specs[kind] = o.Object["spec"]
		if len(o.GetOwnerReferences()) > 0 || o.GetLabels()[v1alpha1.LabelOwner] != "mc-uid" {
			t.Errorf("%s has owners %v and labels %v", kind, o.GetOwnerReferences(), o.GetLabels())
		}
	}
	ref := func(group, kind string) any { return map[string]any{"apiGroup": group, "kind": kind, "name": "c1"} }
	want := map[string]any{
		"CAPTCluster": map[string]any{"region": "eu-west-1", "vpcTemplateRef": map[string]any{"name": "vpc", "namespace": "team-a"}},
		"CAPTControlPlane": map[string]any{
			"version": "v1.34.2", "workspaceTemplateRef": map[string]any{"name": "eks", "namespace": "team-a"}, "controlPlaneConfig": map[string]any{"region": "eu-west-1"},
		},
		"Cluster": map[string]any{"infrastructureRef": ref(groupInfrastructure, "CAPTCluster"), "controlPlaneRef": ref(groupControlPlane, "CAPTControlPlane")},
	}
	if diff := cmp.Diff(want, specs); diff != "" {
		t.Errorf("what was applied: -want, +got:\n%s", diff)
	}
	if env := w.live("Cluster").GetLabels()["env"]; env != "prod" {
		t.Errorf("the Cluster's label is %q", env)
	}
	w.built()
	mc := w.until(ready)
	at := mc.Status.AtProvider
	got := []string{at.ClusterAPIVersion, at.Contracts.Infrastructure, at.Contracts.ControlPlane, at.Version, at.Endpoint.Host, at.Kubeconfig.SecretRef.Name + "/" + at.Kubeconfig.SecretRef.Key}
	if diff := cmp.Diff([]string{"cluster.x-k8s.io/v1beta2", "v1beta1", "v1beta1", "v1.34.2", "c1.example.org", "c1-kubeconfig/value"}, got); diff != "" || at.ReadySince == nil || at.WasReady.UID != at.UID {
		t.Errorf("what is seen: -want, +got:\n%s", diff)
	}
	// What CAPT and core write afterwards is theirs, and nothing is written again.
	w.did = nil
	for range 3 {
		w.clock = w.clock.Add(time.Hour)
		w.reconcile()
	}
	if len(w.did) > 0 {
		t.Errorf("steady state writes: %q", w.did)
	}
	if diff := cmp.Diff(mc.Status, w.get().Status); diff != "" {
		t.Errorf("steady state writes a status: -before, +after:\n%s", diff)
	}
}

// TestUsage is recorded for those who ask what a configuration is used by, and not for what is going.
func TestUsage(t *testing.T) {
	w := newWorld(t)
	w.create(captSpec())
	w.reconcile()
	l := &configv1alpha1.ProviderConfigUsageList{}
	w.must(w.List(t.Context(), l, client.InNamespace("team-a")))
	if len(l.Items) != 1 || l.Items[0].ProviderConfigReference.Name != "default" || l.Items[0].ResourceReference.Name != "prod" {
		t.Fatalf("usages: %+v", l.Items)
	}
	w.must(w.Client.Delete(t.Context(), &l.Items[0]))
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.SetFinalizers([]string{"example.org/audit"}) })
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	w.must(w.List(t.Context(), l, client.InNamespace("team-a")))
	if len(l.Items) > 0 {
		t.Errorf("what is going uses: %+v", l.Items)
	}
}

func TestDegraded(t *testing.T) {
	w := settled(t)
	w.yaml("CAPTControlPlane", "status: {ready: false, initialized: false}")
	w.yaml("Cluster", "status: {initialization: {controlPlaneInitialized: false}}")
	mc := w.until("Degraded")
	if c := mc.GetCondition(v1alpha1.TypeControlPlaneInitialized); c.Status != corev1.ConditionTrue {
		t.Errorf("what CAPT takes back is not taken back: %+v", c)
	}
	if c := mc.GetCondition(xpv2.TypeReady); !strings.HasPrefix(c.Message, "NotReady: CAPTControlPlane c1") {
		t.Errorf("message %q", c.Message)
	}
	// It flaps every second, and is written once in a minute.
	writes, last := 0, w.get().Status
	w.thorough = 0
	for i := range 120 {
		w.yaml("CAPTControlPlane", map[bool]string{true: "status: {ready: true}", false: "status: {ready: false}"}[i%2 == 0])
		w.clock = w.clock.Add(time.Second)
		select {
		case <-w.woken:
		case <-time.After(patience):
			t.Fatal("nobody is woken")
		}
		w.reconcile()
		// An update that changes nothing writes nothing in a real API server.
		if now := w.get().Status; !cmp.Equal(last, now) {
			writes, last = writes+1, now
		}
	}
	if most := progressBurst + 3; writes > most {
		t.Errorf("%d writes in two minutes, and at most %d may be", writes, most)
	}
	if w.thorough > writes {
		t.Errorf("a glance was not enough %d times, with %d writes", w.thorough, writes)
	}
}

func TestNothingIsMadeAgain(t *testing.T) {
	w := settled(t)
	w.did = nil
	uid := string(w.live("CAPTControlPlane").GetUID())
	w.vanish("CAPTControlPlane")
	mc := w.until("ObjectsGone")
	if m := mc.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, "CAPTControlPlane c1 with uid "+uid) || !strings.Contains(m, v1alpha1.AnnotationRecreate+"="+uid) {
		t.Errorf("message %q", m)
	}
	w.clock = w.clock.Add(time.Hour)
	w.reconcile()
	if len(w.did) > 0 {
		t.Fatalf("it was made again: %q", w.did)
	}
	w.change(func(mc *v1alpha1.ManagedCluster) {
		mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: uid})
	})
	w.until("Degraded")
	if diff := cmp.Diff([]string{"apply CAPTControlPlane"}, w.did); diff != "" {
		t.Errorf("a person wants it: -want, +got:\n%s", diff)
	}
}

func TestChangeIgnored(t *testing.T) {
	w := settled(t)
	w.did = nil
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Version = "v1.35.0" })
	mc := w.until("ChangeIgnoredByProvider")
	if m := mc.GetCondition(xpv2.TypeReady).Message; !strings.HasPrefix(m, "CAPTControlPlane c1: spec.version: CAPT carries out nothing") || len(w.did) > 0 {
		t.Errorf("message %q, writes %q", m, w.did)
	}
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Version = "v1.34.2" })
	w.until(ready)
	// A label of the Cluster is no such change.
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Labels["cni"] = "cilium" })
	w.until(ready)
	if diff := cmp.Diff([]string{"apply Cluster"}, w.did); diff != "" || w.live("Cluster").GetLabels()["cni"] != "cilium" {
		t.Errorf("a label: -want, +got:\n%s", diff)
	}
}

func TestPausedIsNotWritten(t *testing.T) {
	w := settled(t)
	w.did = nil
	w.yaml("Cluster", "spec: {paused: true}")
	for w.get().GetCondition(v1alpha1.TypePaused).Status != corev1.ConditionTrue {
		w.clock = w.clock.Add(progressInterval)
		w.reconcile()
	}
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Labels["cni"] = "cilium" })
	w.reconcile()
	if len(w.did) > 0 {
		t.Errorf("it was written: %q", w.did)
	}
}

func TestRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(*world)
		change func(*v1alpha1.ManagedClusterParameters)
		want   string
	}{
		"OtherNamespace": {reason: "Another namespace's cluster", change: func(p *v1alpha1.ManagedClusterParameters) { p.Cluster.Namespace = "team-b" }, want: "PolicyDenied"},
		"Template":       {reason: "A template that nobody allowed", change: func(p *v1alpha1.ManagedClusterParameters) { p.CAPT.ControlPlane.TemplateRef.Name = "admin" }, want: "PolicyDenied"},
		"VPCElsewhere":   {reason: "Another namespace's template", change: func(p *v1alpha1.ManagedClusterParameters) { p.CAPT.VPC.TemplateRef.Namespace = "team-b" }, want: "PolicyDenied"},
		"VPCAllowedElsewhere": {reason: "CAPT would not find it", before: func(w *world) {
			c := &configv1alpha1.ClusterProviderConfig{}
			w.must(w.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
			c.Spec.Policy.WorkspaceTemplates = append(c.Spec.Policy.WorkspaceTemplates, configv1alpha1.NamespacedName{Namespace: "team-b", Name: "vpc"})
			w.must(w.Update(w.Context(), c))
		}, change: func(p *v1alpha1.ManagedClusterParameters) { p.CAPT.VPC.TemplateRef.Namespace = "team-b" }, want: "PolicyDenied"},
		"EKSElsewhere": {reason: "CAPT would take another one", change: func(p *v1alpha1.ManagedClusterParameters) { p.CAPT.ControlPlane.TemplateRef.Namespace = "team-b" }, want: "PolicyDenied"},
		"ClassElsewhere": {reason: "Another namespace's class", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Type, p.CAPT, p.Topology = v1alpha1.TypeTopology, nil, &v1alpha1.Topology{ClassRef: v1alpha1.ClassReference{Name: "c", Namespace: "team-b"}}
		}, want: "PolicyDenied"},
		"Paused": {reason: "Nobody pauses a Cluster by its annotations", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Annotations = map[string]v1alpha1.AnnotationValue{"cluster.x-k8s.io/paused": ""}
		}, want: "PolicyDenied"},
		"SiteName": {reason: "An administrator's Site", change: func(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish, p.Site.Name = true, "prod" }, want: "PolicyDenied"},
		"SitePath": {reason: "An administrator's directory", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Site.Publish, p.Site.Repository.Path = true, "clusters/prod"
		}, want: "PolicyDenied"},
		"Hub": {reason: "Engines of the control plane", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Site.Publish, p.Site.Engine = true, &catalogv1alpha1.SiteEngine{Type: "Flux", Location: "ControlPlane"}
		}, want: "PolicyDenied"},
		"Missing": {reason: "A template that is not there", before: func(w *world) {
			w.remove("WorkspaceTemplate", "team-a", "vpc")
		}, want: "TemplateMissing"},
		"Taken":           {reason: "Somebody made it by hand", before: func(w *world) { w.yaml("Cluster", "spec: {paused: false}") }, want: "NameTaken"},
		"TakenElsewhere":  {reason: "Workspaces are in no namespace", before: func(w *world) { w.yaml("CAPTControlPlane", "metadata: {namespace: team-b}") }, want: "NameTaken"},
		"TakenVPC":        {reason: "CAPT would take another's network", before: func(w *world) { w.yaml("Workspace", "metadata: {name: c1-vpc}") }, want: "NameTaken"},
		"TakenPlane":      {reason: "Or another's control plane", before: func(w *world) { w.yaml("Workspace", "metadata: {name: c1-eks-controlplane}") }, want: "NameTaken"},
		"TakenKubeconfig": {reason: "Or another's kubeconfig", before: func(w *world) { w.yaml("Workspace", "metadata: {name: c1-kubeconfig}") }, want: "NameTaken"},
		"Namespace":       {reason: "A configuration that is not for this namespace", before: func(w *world) { w.only("team-b") }, want: "PolicyDenied"},
		"TopologyNamespace": {reason: "Whatever is made by it", before: func(w *world) { w.only("team-b") }, change: func(p *v1alpha1.ManagedClusterParameters) {
			*p = topologySpec()
		}, want: "PolicyDenied"},
		"ExistingNamespace": {reason: "A Site is made too", before: func(w *world) { w.only("team-b") }, change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Type, p.CAPT, p.Site.Publish = v1alpha1.TypeExisting, nil, true
		}, want: "PolicyDenied"},
		"NoConfiguration": {reason: "Limits that do not exist would be none", before: func(w *world) {
			w.must(w.Client.Delete(w.Context(), &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}))
		}, change: func(p *v1alpha1.ManagedClusterParameters) { *p = topologySpec() }, want: "PolicyDenied"},
		"LongSiteName": {reason: "No Site has such a name", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Site.Publish, p.Site.Name = true, strings.Repeat("a", 64)
		}, want: "PolicyDenied"},
		"NoContract": {reason: "A kind without the label", before: func(w *world) {
			w.remove("CustomResourceDefinition", "", "captclusters."+groupInfrastructure)
			w.yaml("CustomResourceDefinition", "metadata: {name: captclusters.infrastructure.cluster.x-k8s.io}\nspec: {names: {plural: captclusters}, versions: [{name: v1beta1, served: true}]}")
		}, want: "ContractUnknown"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install()
			p := captSpec()
			if tc.change != nil {
				tc.change(&p)
			}
			if tc.before != nil {
				tc.before(w)
			}
			w.create(p)
			mc := w.until(tc.want)
			if len(w.did) > 0 || mc.GetCondition(xpv2.TypeReady).Message == "" {
				t.Errorf("\n%s\nwrites %q, message %q", tc.reason, w.did, mc.GetCondition(xpv2.TypeReady).Message)
			}
			// Nothing was made, so nothing holds it.
			w.must(w.Delete(t.Context(), w.get()))
			w.reconcile()
			if err := w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}); err == nil || len(w.did) > 0 {
				t.Errorf("\n%s\nit cannot be deleted: %v, %q", tc.reason, err, w.did)
			}
		})
	}
}

func TestDeletion(t *testing.T) {
	w := settled(t, func(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish = true })
	w.did = nil
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile() // The Site goes, and the Cluster.
	w.reconcile()
	if err := w.Get(t.Context(), client.ObjectKey{Name: "team-a.prod"}, &catalogv1alpha1.Site{}); err == nil {
		t.Error("its Site is still there")
	}
	if len(w.did) == 0 || strings.Join(w.did, "") != strings.Repeat("delete Cluster", len(w.did)) {
		t.Errorf("what is deleted while the Cluster is there: %q", w.did)
	}
	w.did = nil
	w.vanish("Cluster")
	w.gone("delete CAPTControlPlane", "CAPTControlPlane")
	w.gone("delete CAPTCluster", "CAPTCluster")
	for w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}) == nil {
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
}

// TestDeletionIsTold at once, however fast one step follows another: nobody comes back for what was not written.
func TestDeletionIsTold(t *testing.T) {
	w := settled(t)
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	for _, reason := range []string{"WaitingForWorkersDeletion", "WaitingForControlPlaneDeletion", "WaitingForInfrastructureDeletion"} {
		w.yaml("Cluster", "metadata: {deletionTimestamp: '2026-11-01T12:00:00Z', finalizers: [a/b]}\nstatus: {conditions: [{type: Deleting, status: 'True', reason: "+reason+"}]}")
		for string(w.get().GetCondition(v1alpha1.TypeDeleting).Reason) != reason {
			select {
			case <-w.woken:
			case <-time.After(time.Minute):
				t.Fatalf("want %s, got %+v", reason, w.get().GetCondition(v1alpha1.TypeDeleting))
			}
			w.reconcile()
		}
	}
	before := w.get().Status
	w.reconcile()
	if diff := cmp.Diff(before, w.get().Status); diff != "" {
		t.Errorf("nothing happened, and the status was written: -before, +after:\n%s", diff)
	}
}

// gone reconciles until an object is deleted, and then removes it.
func (w *world) gone(want, kind string) {
	w.Helper()
	for rounds := 0; len(w.did) == 0 || w.did[len(w.did)-1] != want; rounds++ {
		if rounds > maxRounds {
			w.Fatalf("%q is not done: %q, %+v", want, w.did, w.get().Status.Conditions)
		}
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
	w.vanish(kind)
}

func TestProtected(t *testing.T) {
	w := settled(t, func(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish = true })
	w.until(ready)
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	d.Spec.ForProvider.ClaimRef.Name = "shop"
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "team-a.prod"}}
	w.must(w.Create(t.Context(), d))
	w.did = nil
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	if m := w.get().GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, "InUse: deployments use Site team-a.prod: team-a/shop.") || len(w.did) > 0 {
		t.Errorf("it is not held: %q, %q", m, w.did)
	}
	w.must(w.Client.Delete(t.Context(), d))
	w.reconcile()
	if diff := cmp.Diff([]string{"delete Cluster"}, w.did); diff != "" {
		t.Errorf("nobody uses it any more: -want, +got:\n%s", diff)
	}
}

func TestPublishedSite(t *testing.T) {
	w := settled(t, func(p *v1alpha1.ManagedClusterParameters) {
		p.Site = v1alpha1.PublishedSite{Publish: true, Labels: map[string]v1alpha1.LabelValue{"env": "prod"}}
	})
	w.reconcile()
	s := &catalogv1alpha1.Site{}
	w.must(w.Get(t.Context(), client.ObjectKey{Name: "team-a.prod"}, s))
	want := catalogv1alpha1.SiteSpec{
		Cluster:    catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "team-a", Name: "c1"}},
		Engine:     catalogv1alpha1.SiteEngine{Type: "None"},
		Repository: catalogv1alpha1.SiteRepository{Path: "clusters/team-a/prod"}, AllowedNamespaces: []string{"team-a"},
		Owner: &catalogv1alpha1.SiteOwner{APIGroup: "cluster.intentplane.dev", Kind: "ManagedCluster", Namespace: "team-a", Name: "prod", UID: "mc-uid"},
	}
	if diff := cmp.Diff(want, s.Spec); diff != "" || s.Labels["env"] != "prod" {
		t.Errorf("Site: -want, +got:\n%s", diff)
	}
	// It is made once, and never changed.
	s.Spec.AllowedNamespaces = []string{"team-a", "team-c"}
	w.must(w.Update(t.Context(), s))
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Site.Labels["env"] = "test" })
	w.reconcile()
	w.must(w.Get(t.Context(), client.ObjectKey{Name: "team-a.prod"}, s))
	if len(s.Spec.AllowedNamespaces) != 2 || s.Labels["env"] != "prod" {
		t.Errorf("what an administrator did was undone: %v, %v", s.Spec.AllowedNamespaces, s.Labels)
	}
}

func TestForeignSite(t *testing.T) {
	foreign := func(name, path string) *catalogv1alpha1.Site {
		return &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: catalogv1alpha1.SiteSpec{Repository: catalogv1alpha1.SiteRepository{Path: path}, AllowedNamespaces: []string{"x"}}}
	}
	cases := map[string]struct {
		reason string
		site   *catalogv1alpha1.Site
	}{
		"Name":   {reason: "A Site of that name is an administrator's", site: foreign("team-a.prod", "elsewhere")},
		"Path":   {reason: "Its directory is", site: foreign("edge1", "clusters/team-a/prod")},
		"Parent": {reason: "An engine reads all of it", site: foreign("edge1", "clusters")},
		"Child":  {reason: "Or ours would read all of another's", site: foreign("edge1", "clusters/team-a/prod/edge1")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install()
			w.must(w.Create(t.Context(), tc.site.DeepCopy()))
			p := captSpec()
			p.Site.Publish = true
			w.create(p)
			w.until("PolicyDenied")
			if len(w.did) > 0 {
				t.Errorf("\n%s\nit is built all the same: %q", tc.reason, w.did)
			}
			w.built()
			for range 5 {
				w.clock = w.clock.Add(time.Hour)
				w.reconcile()
			}
			l := &catalogv1alpha1.SiteList{}
			w.must(w.List(t.Context(), l))
			if diff := cmp.Diff(tc.site.Spec, l.Items[0].Spec); diff != "" || len(l.Items) != 1 {
				t.Errorf("\n%s\n%d Sites, -want, +got:\n%s", tc.reason, len(l.Items), diff)
			}
			w.must(w.Delete(t.Context(), w.get()))
			w.reconcile()
			w.must(w.Get(t.Context(), client.ObjectKey{Name: tc.site.GetName()}, &catalogv1alpha1.Site{}))
		})
	}
}

func TestExisting(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.yaml("Cluster", "spec: {paused: false}")
	w.create(v1alpha1.ManagedClusterParameters{Cluster: v1alpha1.ClusterReference{Name: "c1"}, ClusterDescription: v1alpha1.ClusterDescription{Type: v1alpha1.TypeExisting, Labels: map[string]v1alpha1.LabelValue{"a": "b"}}})
	w.until("NotReferenced")
	w.built()
	w.until(ready)
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	if err := w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}); err == nil || len(w.did) > 0 {
		t.Errorf("it is only watched: %v, %q", err, w.did)
	}
}

// TestProvisionedIsRemembered by the ManagedCluster, for one Cluster.
func TestProvisionedIsRemembered(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.yaml("Cluster", "spec: {paused: false}")
	w.create(v1alpha1.ManagedClusterParameters{Cluster: v1alpha1.ClusterReference{Name: "c1"}, ClusterDescription: v1alpha1.ClusterDescription{Type: v1alpha1.TypeExisting}})
	if at := w.until("NotReferenced").Status.AtProvider; at.Provisioned != nil {
		t.Errorf("it is not: %+v", at.Provisioned)
	}
	// It is at once, though there is no kubeconfig yet.
	w.yaml("Cluster", "spec: {controlPlaneEndpoint: {host: c1.example.org, port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
	at := w.until("KubeconfigMissing").Status.AtProvider
	if at.Provisioned == nil || at.Provisioned.UID != at.UID {
		t.Fatalf("it is: %+v", at)
	}
	since := at.Provisioned.At
	w.built()
	w.until(ready)
	w.yaml("Cluster", "status: {initialization: {infrastructureProvisioned: false}}")
	if at := w.until("Degraded").Status.AtProvider; at.Provisioned == nil || !at.Provisioned.At.Equal(&since) {
		t.Errorf("it was: %+v", at.Provisioned)
	}
	w.vanish("Cluster")
	for range 3 {
		w.reconcile()
	}
	if mc := w.get(); !missing(mc.Status) || mc.Status.AtProvider.UID != at.UID {
		t.Errorf("that it is gone is not told at once: %+v", mc.GetCondition(v1alpha1.TypeDeleting))
	}
}

// TestForeign is a Cluster of that name which somebody else made, and which goes again.
func TestForeign(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.yaml("Cluster", "spec: {controlPlaneEndpoint: {host: c1.example.org, port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
	w.create(captSpec())
	if at := w.until("NameTaken").Status.AtProvider; at.Provisioned != nil {
		t.Errorf("it is another one that was provisioned: %+v", at.Provisioned)
	}
	w.vanish("Cluster")
	w.until("Provisioning")
	if len(w.did) == 0 {
		t.Error("nothing is made")
	}
}

func TestTimeouts(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.create(captSpec())
	w.until("Provisioning")
	w.clock = w.clock.Add(15 * time.Minute)
	w.until("InfrastructureTimedOut")
	w.did = nil
	// Nobody ever says that it is initialized: that would be remembered.
	w.yaml("CAPTCluster", "status: {ready: true}")
	w.yaml("CAPTControlPlane", "status: {ready: false, initialized: false}")
	w.yaml("Cluster", "status: {initialization: {infrastructureProvisioned: true}}")
	w.until("NotInitialized")
	w.clock = w.clock.Add(30 * time.Minute)
	w.until("ControlPlaneTimedOut")
	w.built()
	w.until(ready)
	if len(w.did) > 0 {
		t.Errorf("a timeout writes: %q", w.did)
	}
}

// TestPauseIsNoDelay takes no time from what is waited for, where who builds the cluster waits too.
func TestPauseIsNoDelay(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.create(topologySpec())
	w.until("NotReferenced")
	pause := func(paused bool) {
		w.yaml("Cluster", fmt.Sprintf("spec: {paused: %t}", paused))
		for rounds := 0; (w.get().GetCondition(v1alpha1.TypePaused).Status == corev1.ConditionTrue) != paused; rounds++ {
			if rounds > maxRounds {
				t.Fatalf("it is not seen: %+v", w.get().Status.Conditions)
			}
			w.clock = w.clock.Add(time.Minute)
			w.reconcile()
		}
	}
	stays := func(reason string, d time.Duration) {
		t.Helper()
		w.clock = w.clock.Add(d)
		w.reconcile()
		if c := w.get().GetCondition(xpv2.TypeReady); string(c.Reason) != reason {
			t.Fatalf("want %s, got %+v", reason, c)
		}
	}
	pause(true)
	stays("NotReferenced", time.Hour)
	pause(false)
	stays("NotReferenced", 14*time.Minute)
	w.until("InfrastructureTimedOut")
	w.yaml("Cluster", "status: {initialization: {infrastructureProvisioned: true}}")
	w.until("NotInitialized")
	pause(true)
	stays("NotInitialized", time.Hour)
	pause(false)
	stays("NotInitialized", 29*time.Minute)
	w.until("ControlPlaneTimedOut")
}

// TestIgnoredPause is one that CAPT knows nothing of: it goes on, and may take too long.
func TestIgnoredPause(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.create(captSpec())
	w.until("Provisioning")
	w.yaml("Cluster", "spec: {paused: true}")
	w.clock = w.clock.Add(15 * time.Minute)
	if c := w.until("InfrastructureTimedOut").GetCondition(v1alpha1.TypePaused); c.Reason != readiness.ReasonPausedIgnored {
		t.Errorf("%+v", c)
	}
}

// TestVersion is asked for in the one form that Cluster API keeps.
func TestVersion(t *testing.T) {
	for name, p := range map[string]v1alpha1.ManagedClusterParameters{"Topology": topologySpec(), "CAPT": captSpec()} {
		t.Run(name, func(t *testing.T) {
			p.Version = "1.34.2"
			w := newWorld(t)
			w.install()
			w.create(p)
			kind, path := "Cluster", []string{"spec", "topology", "version"}
			if name == "CAPT" {
				kind, path = "CAPTControlPlane", []string{"spec", "version"}
			}
			w.until(map[string]string{"Cluster": "NotReferenced", "CAPTControlPlane": "Provisioning"}[kind])
			if v, _, _ := unstructured.NestedString(w.live(kind).Object, path...); v != "v1.34.2" {
				t.Errorf("%s is asked for version %q", kind, v)
			}
		})
	}
}

func TestObserveOnly(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.create(captSpec())
	w.change(func(mc *v1alpha1.ManagedCluster) {
		mc.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	})
	for range 3 {
		w.reconcile()
	}
	if len(w.did) > 0 {
		t.Errorf("it is only watched: %q", w.did)
	}
}

func TestSays(t *testing.T) {
	live := map[string]any{
		"a": int64(1), "b": []any{map[string]any{"x": "y", "defaulted": true}}, "others": "too",
		"named": []any{map[string]any{"name": "theirs", "value": "v"}, map[string]any{"name": "ours", "value": "v"}},
	}
	cases := map[string]struct {
		reason string
		want   any
		is     bool
	}{
		"Part":       {reason: "What others added does not matter", want: map[string]any{"a": float64(1)}, is: true},
		"List":       {reason: "Nor in elements", want: map[string]any{"b": []any{map[string]any{"x": "y"}}}, is: true},
		"Other":      {reason: "Another value does", want: map[string]any{"a": int64(2)}},
		"False":      {reason: "What is false may be left out", want: map[string]any{"c": false}, is: true},
		"True":       {reason: "What is true may not", want: map[string]any{"c": true}},
		"Absent":     {reason: "So does none", want: map[string]any{"c": "d"}},
		"ListLonger": {reason: "An element more", want: map[string]any{"b": []any{map[string]any{"x": "y"}, "z"}}},
		"Named":      {reason: "Others have theirs in the same list", want: map[string]any{"named": []any{map[string]any{"name": "ours", "value": "v"}}}, is: true},
		"NamedOther": {reason: "Ours is compared with the one of its name", want: map[string]any{"named": []any{map[string]any{"name": "ours", "value": "w"}}}},
		"NamedNone":  {reason: "Ours is not there", want: map[string]any{"named": []any{map[string]any{"name": "new", "value": "v"}}}},
		"Empty":      {reason: "A list that should be empty", want: map[string]any{"named": []any{}}},
		"OtherForm":  {reason: "Another form", want: map[string]any{"others": map[string]any{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := says(live, tc.want); got != tc.is {
				t.Errorf("\n%s\nsays(): %t", tc.reason, got)
			}
		})
	}
}

// TestToldAtOnce says why nothing is made as soon as that is known, though nothing ever happens after that.
func TestToldAtOnce(t *testing.T) {
	w := newWorld(t)
	p := captSpec()
	p.Cluster.Namespace = "team-b"
	w.create(p)
	w.reconcile()
	for range 3 {
		if w.result.RequeueAfter <= time.Second {
			w.reconcile()
		}
	}
	if c := w.get().GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonPolicyDenied || w.result.RequeueAfter < time.Minute {
		t.Errorf("%+v, and it is looked at again after %s", c, w.result.RequeueAfter)
	}
}

// TestWithdrawn carries out what is not asked for any more: it is still there, and looks like somebody else's.
func TestWithdrawn(t *testing.T) {
	w := settled(t)
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Labels["cni"] = "cilium" })
	w.until(ready)
	w.did = nil
	w.change(func(mc *v1alpha1.ManagedCluster) { delete(mc.Spec.ForProvider.Labels, "cni") })
	w.until(ready)
	if diff := cmp.Diff([]string{"apply Cluster"}, w.did); diff != "" {
		t.Errorf("a label that is withdrawn: -want, +got:\n%s", diff)
	}
	w.did = nil
	w.clock = w.clock.Add(time.Hour)
	w.reconcile()
	if len(w.did) > 0 {
		t.Errorf("steady state writes: %q", w.did)
	}
}

// TestAnotherOfThatName is not the object that is gone, whoever made it.
func TestAnotherOfThatName(t *testing.T) {
	mc := &v1alpha1.ManagedCluster{}
	mc.Spec.ForProvider.Type, mc.Spec.ForProvider.Cluster.Name = v1alpha1.TypeTopology, "c1"
	mc.Status.AtProvider = v1alpha1.ManagedClusterObservation{UID: "u1", Objects: []v1alpha1.ClusterObject{{Kind: kindCluster, Name: "c1", UID: "u1"}}}
	live := object(mc, "cluster.x-k8s.io/v1beta2", kindCluster, nil)
	live.SetUID("u2")
	f := facts{mc: mc, parts: []part{{want: live, live: live}}, report: readiness.Read(readiness.Input{Cluster: readiness.Found(live, readiness.V1Beta2)})}
	if reason, _ := refuse(f); reason != v1alpha1.ReasonObjectsGone {
		t.Errorf("reason %q", reason)
	}
	if at := observation(f, mc.Status.AtProvider); at.UID != "u1" || uidOf(at, kindCluster, "c1") != "u1" {
		t.Errorf("which one was there is forgotten: %+v", at)
	}
	if deletable(mc, f.parts[0]) {
		t.Error("another one would be deleted")
	}
	mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: "u1"})
	if lost(f) != "" {
		t.Error("a person said that it may be made again")
	}
	mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: "u0"})
	if lost(f) == "" {
		t.Error("a person said so of another one")
	}
}
