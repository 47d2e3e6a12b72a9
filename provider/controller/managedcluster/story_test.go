package managedcluster

import (
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
