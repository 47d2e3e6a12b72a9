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
	"github.com/intentplane/intentplane/test/patience"
)

const ready = "Ready"

// newReadyCluster returns an environment with a cluster of CAPT that is ready.
func newReadyCluster(t *testing.T, change ...func(*v1alpha1.ManagedClusterParameters)) *testEnv {
	t.Helper()
	w := newWorld(t)
	w.installClusterAPI()
	p := captParameters()
	for _, fn := range change {
		fn(&p)
	}
	w.create(p)
	w.reconcileUntil("Provisioning")
	w.reportBuilt()
	w.reconcileUntil(ready)
	return w
}

func TestCAPTCluster(t *testing.T) {
	w := newWorld(t)
	w.create(captParameters())
	w.reconcileUntil("KindMissing")
	w.installClusterAPI()
	w.reconcileUntil("Provisioning")
	if diff := cmp.Diff([]string{"apply CAPTCluster", "apply CAPTControlPlane", "apply Cluster"}, w.writes[:3]); diff != "" {
		t.Errorf("applied objects, in order: -want, +got:\n%s", diff)
	}
	specs := map[string]any{}
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		o := w.getLive(kind)
		specs[kind] = o.Object["spec"]
		if len(o.GetOwnerReferences()) > 0 || o.GetLabels()[v1alpha1.LabelOwner] != "mc-uid" {
			t.Errorf("%s has owners %v and labels %v", kind, o.GetOwnerReferences(), o.GetLabels())
		}
	}
	ref := func(group, kind string) any { return map[string]any{"apiGroup": group, "kind": kind, "name": "c1"} }
	want := map[string]any{
		"CAPTCluster": map[string]any{"region": "eu-west-1", "vpcTemplateRef": map[string]any{"name": "vpc", "namespace": "team-a"}},
		"CAPTControlPlane": map[string]any{
			"version": "v1.34.2", "workspaceTemplateRef": map[string]any{"name": "eks", "namespace": "team-a"},
			"controlPlaneConfig": map[string]any{"region": "eu-west-1"},
		},
		"Cluster": map[string]any{"infrastructureRef": ref(groupInfrastructure, "CAPTCluster"), "controlPlaneRef": ref(groupControlPlane, "CAPTControlPlane")},
	}
	if diff := cmp.Diff(want, specs); diff != "" {
		t.Errorf("applied objects: -want, +got:\n%s", diff)
	}
	if env := w.getLive("Cluster").GetLabels()["env"]; env != "prod" {
		t.Errorf("the Cluster's label is %q", env)
	}
	w.reportBuilt()
	mc := w.reconcileUntil(ready)
	observation := mc.Status.AtProvider
	got := []string{observation.ClusterAPIVersion, observation.Contracts.Infrastructure, observation.Contracts.ControlPlane, observation.Version, observation.Endpoint.Host, observation.Kubeconfig.SecretRef.Name + "/" + observation.Kubeconfig.SecretRef.Key}
	if diff := cmp.Diff([]string{"cluster.x-k8s.io/v1beta2", "v1beta1", "v1beta1", "v1.34.2", "c1.example.org", "c1-kubeconfig/value"}, got); diff != "" || observation.ReadySince == nil || observation.WasReady.UID != observation.UID {
		t.Errorf("observed cluster: -want, +got:\n%s", diff)
	}
	// CAPT and Cluster API write fields of their own afterwards, and nothing is applied again.
	w.writes = nil
	for range 3 {
		w.clock = w.clock.Add(time.Hour)
		w.reconcile()
	}
	if len(w.writes) > 0 {
		t.Errorf("steady state writes: %q", w.writes)
	}
	if diff := cmp.Diff(mc.Status, w.get().Status); diff != "" {
		t.Errorf("steady state writes a status: -before, +after:\n%s", diff)
	}
}

func TestDegradedIsWrittenOncePerMinute(t *testing.T) {
	w := newReadyCluster(t)
	w.putYAML("CAPTControlPlane", "status: {ready: false, initialized: false}")
	w.putYAML("Cluster", "status: {initialization: {controlPlaneInitialized: false}}")
	mc := w.reconcileUntil("Degraded")
	if c := mc.GetCondition(v1alpha1.TypeControlPlaneInitialized); c.Status != corev1.ConditionTrue {
		t.Errorf("a condition that CAPT unsets later does not stay set: %+v", c)
	}
	if c := mc.GetCondition(xpv2.TypeReady); !strings.HasPrefix(c.Message, "NotReady: CAPTControlPlane c1") {
		t.Errorf("message %q", c.Message)
	}
	// The cluster flaps every second, and the status is written once per minute.
	writes, last := 0, w.get().Status
	w.fullReconciles = 0
	for i := range 120 {
		w.putYAML("CAPTControlPlane", map[bool]string{true: "status: {ready: true}", false: "status: {ready: false}"}[i%2 == 0])
		w.clock = w.clock.Add(time.Second)
		select {
		case <-w.woken:
		case <-time.After(patience.Limit):
			t.Fatal("no ManagedCluster is requeued")
		}
		w.reconcile()
		// An update without a change keeps the resource version in a real API server.
		if now := w.get().Status; !cmp.Equal(last, now) {
			writes, last = writes+1, now
		}
	}
	if limit := progressBurst + 3; writes > limit {
		t.Errorf("%d writes in two minutes, and at most %d may be", writes, limit)
	}
	if w.fullReconciles > writes {
		t.Errorf("%d full reconciles, with %d writes", w.fullReconciles, writes)
	}
}

func TestLostObjectsAreNotRecreated(t *testing.T) {
	w := newReadyCluster(t)
	w.writes = nil
	uid := string(w.getLive("CAPTControlPlane").GetUID())
	w.removeSilently("CAPTControlPlane")
	mc := w.reconcileUntil("ObjectsGone")
	if m := mc.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, "CAPTControlPlane c1 with uid "+uid) || !strings.Contains(m, v1alpha1.AnnotationRecreate+"="+uid) {
		t.Errorf("message %q", m)
	}
	w.clock = w.clock.Add(time.Hour)
	w.reconcile()
	if len(w.writes) > 0 {
		t.Fatalf("it was made again: %q", w.writes)
	}
	w.change(func(mc *v1alpha1.ManagedCluster) {
		mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: uid})
	})
	w.reconcileUntil("Degraded")
	if diff := cmp.Diff([]string{"apply CAPTControlPlane"}, w.writes); diff != "" {
		t.Errorf("after the user allowed it: -want, +got:\n%s", diff)
	}
}

func TestChangeIgnored(t *testing.T) {
	w := newReadyCluster(t)
	w.writes = nil
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Version = "v1.35.0" })
	mc := w.reconcileUntil("ChangeIgnoredByProvider")
	if m := mc.GetCondition(xpv2.TypeReady).Message; !strings.HasPrefix(m, "CAPTControlPlane c1: spec.version: CAPT ignores changes") || len(w.writes) > 0 {
		t.Errorf("message %q, writes %q", m, w.writes)
	}
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Version = "v1.34.2" })
	w.reconcileUntil(ready)
	// CAPT carries out a changed label of the Cluster.
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Labels["cni"] = "cilium" })
	w.reconcileUntil(ready)
	if diff := cmp.Diff([]string{"apply Cluster"}, w.writes); diff != "" || w.getLive("Cluster").GetLabels()["cni"] != "cilium" {
		t.Errorf("a label: -want, +got:\n%s", diff)
	}
}

func TestPausedIsNotWritten(t *testing.T) {
	w := newReadyCluster(t)
	w.writes = nil
	w.putYAML("Cluster", "spec: {paused: true}")
	for w.get().GetCondition(v1alpha1.TypePaused).Status != corev1.ConditionTrue {
		w.clock = w.clock.Add(progressInterval)
		w.reconcile()
	}
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Labels["cni"] = "cilium" })
	w.reconcile()
	if len(w.writes) > 0 {
		t.Errorf("it was written: %q", w.writes)
	}
}

func TestRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(*testEnv)
		change func(*v1alpha1.ManagedClusterParameters)
		want   string
	}{
		"OtherNamespace": {
			reason: "A cluster of another namespace is refused.",
			change: func(p *v1alpha1.ManagedClusterParameters) { p.Cluster.Namespace = "team-b" }, want: "PolicyDenied",
		},
		"Template": {
			reason: "A template that the configuration does not allow is refused.",
			change: func(p *v1alpha1.ManagedClusterParameters) { p.CAPT.ControlPlane.TemplateRef.Name = "admin" }, want: "PolicyDenied",
		},
		"VPCElsewhere": {
			reason: "A template of another namespace is refused.",
			change: func(p *v1alpha1.ManagedClusterParameters) { p.CAPT.VPC.TemplateRef.Namespace = "team-b" }, want: "PolicyDenied",
		},
		"VPCAllowedElsewhere": {reason: "A VPC template of another namespace is refused even if allowed: CAPT would not find it.", before: func(w *testEnv) {
			c := &configv1alpha1.ClusterProviderConfig{}
			w.must(w.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
			c.Spec.Policy.WorkspaceTemplates = append(c.Spec.Policy.WorkspaceTemplates, configv1alpha1.NamespacedName{Namespace: "team-b", Name: "vpc"})
			w.must(w.Update(w.Context(), c))
		}, change: func(p *v1alpha1.ManagedClusterParameters) { p.CAPT.VPC.TemplateRef.Namespace = "team-b" }, want: "PolicyDenied"},
		"EKSElsewhere": {
			reason: "A control plane template of another namespace is refused: CAPT would use a template of its own namespace.",
			change: func(p *v1alpha1.ManagedClusterParameters) { p.CAPT.ControlPlane.TemplateRef.Namespace = "team-b" }, want: "PolicyDenied",
		},
		"ClassElsewhere": {reason: "A ClusterClass of another namespace is refused.", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Type, p.CAPT, p.Topology = v1alpha1.TypeTopology, nil, &v1alpha1.Topology{ClassRef: v1alpha1.ClassReference{Name: "c", Namespace: "team-b"}}
		}, want: "PolicyDenied"},
		"Paused": {reason: "A user cannot pause a Cluster by its annotations.", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Annotations = map[string]v1alpha1.AnnotationValue{"cluster.x-k8s.io/paused": ""}
		}, want: "PolicyDenied"},
		"SiteName": {
			reason: "A user cannot publish a Site under a name of an administrator.",
			change: func(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish, p.Site.Name = true, "prod" }, want: "PolicyDenied",
		},
		"SitePath": {reason: "A user cannot publish a Site with a directory of an administrator.", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Site.Publish, p.Site.Repository.Path = true, "clusters/prod"
		}, want: "PolicyDenied"},
		"Hub": {reason: "A user cannot publish a Site whose engine is in the control plane.", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Site.Publish, p.Site.Engine = true, &catalogv1alpha1.SiteEngine{Type: "Flux", Location: "ControlPlane"}
		}, want: "PolicyDenied"},
		"Missing": {reason: "Nothing is made while a template does not exist.", before: func(w *testEnv) {
			w.removeObject("WorkspaceTemplate", "team-a", "vpc")
		}, want: "TemplateMissing"},
		"Taken": {
			reason: "A Cluster of the name that a user made by hand is not adopted.",
			before: func(w *testEnv) { w.putYAML("Cluster", "spec: {paused: false}") }, want: "NameTaken",
		},
		"TakenElsewhere": {
			reason: "A cluster of CAPT takes its name in all namespaces: Workspaces are cluster-scoped.",
			before: func(w *testEnv) { w.putYAML("CAPTControlPlane", "metadata: {namespace: team-b}") }, want: "NameTaken",
		},
		"TakenVPC": {
			reason: "An existing Workspace of the network is refused: CAPT would adopt it.",
			before: func(w *testEnv) { w.putYAML("Workspace", "metadata: {name: c1-vpc}") }, want: "NameTaken",
		},
		"TakenPlane": {
			reason: "An existing Workspace of the control plane is refused: CAPT would adopt it.",
			before: func(w *testEnv) { w.putYAML("Workspace", "metadata: {name: c1-eks-controlplane}") }, want: "NameTaken",
		},
		"TakenKubeconfig": {
			reason: "An existing Workspace of the kubeconfig is refused: CAPT would adopt it.",
			before: func(w *testEnv) { w.putYAML("Workspace", "metadata: {name: c1-kubeconfig}") }, want: "NameTaken",
		},
		"Namespace": {
			reason: "A configuration that is not for this namespace is refused.",
			before: func(w *testEnv) { w.allowOnlyNamespace("team-b") }, want: "PolicyDenied",
		},
		"TopologyNamespace": {reason: "A configuration that is not for this namespace is refused for a topology, too.", before: func(w *testEnv) { w.allowOnlyNamespace("team-b") }, change: func(p *v1alpha1.ManagedClusterParameters) {
			*p = topologyParameters()
		}, want: "PolicyDenied"},
		"ExistingNamespace": {reason: "A configuration that is not for this namespace is refused for a Site of an existing cluster.", before: func(w *testEnv) { w.allowOnlyNamespace("team-b") }, change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Type, p.CAPT, p.Site.Publish = v1alpha1.TypeExisting, nil, true
		}, want: "PolicyDenied"},
		"NoConfiguration": {reason: "A configuration that does not exist allows nothing.", before: func(w *testEnv) {
			w.must(w.Client.Delete(w.Context(), &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}))
		}, change: func(p *v1alpha1.ManagedClusterParameters) { *p = topologyParameters() }, want: "PolicyDenied"},
		"LongSiteName": {reason: "A name that is too long for a Site is refused.", change: func(p *v1alpha1.ManagedClusterParameters) {
			p.Site.Publish, p.Site.Name = true, strings.Repeat("a", 64)
		}, want: "PolicyDenied"},
		"NoContract": {reason: "A kind of CAPT without the label of a contract is refused.", before: func(w *testEnv) {
			w.removeObject("CustomResourceDefinition", "", "captclusters."+groupInfrastructure)
			w.putYAML("CustomResourceDefinition", "metadata: {name: captclusters.infrastructure.cluster.x-k8s.io}\nspec: {names: {plural: captclusters}, versions: [{name: v1beta1, served: true}]}")
		}, want: "ContractUnknown"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.installClusterAPI()
			p := captParameters()
			if tc.change != nil {
				tc.change(&p)
			}
			if tc.before != nil {
				tc.before(w)
			}
			w.create(p)
			mc := w.reconcileUntil(tc.want)
			if len(w.writes) > 0 || mc.GetCondition(xpv2.TypeReady).Message == "" {
				t.Errorf("\n%s\nwrites %q, message %q", tc.reason, w.writes, mc.GetCondition(xpv2.TypeReady).Message)
			}
			// Nothing was made, so nothing holds it.
			w.must(w.Delete(t.Context(), w.get()))
			w.reconcile()
			if err := w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}); err == nil || len(w.writes) > 0 {
				t.Errorf("\n%s\nit cannot be deleted: %v, %q", tc.reason, err, w.writes)
			}
		})
	}
}

// TestNormalizedVersion checks that the version has the normal form of Cluster API's webhook.
func TestNormalizedVersion(t *testing.T) {
	for name, p := range map[string]v1alpha1.ManagedClusterParameters{"Topology": topologyParameters(), "CAPT": captParameters()} {
		t.Run(name, func(t *testing.T) {
			p.Version = "1.34.2"
			w := newWorld(t)
			w.installClusterAPI()
			w.create(p)
			kind, path := "Cluster", []string{"spec", "topology", "version"}
			if name == "CAPT" {
				kind, path = "CAPTControlPlane", []string{"spec", "version"}
			}
			w.reconcileUntil(map[string]string{"Cluster": "NotReferenced", "CAPTControlPlane": "Provisioning"}[kind])
			if v, _, _ := unstructured.NestedString(w.getLive(kind).Object, path...); v != "v1.34.2" {
				t.Errorf("%s is asked for version %q", kind, v)
			}
		})
	}
}
