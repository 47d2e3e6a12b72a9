package capt

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	clusterFinalizer        = "cluster.cluster.x-k8s.io"
	infrastructureFinalizer = "infrastructure.cluster.x-k8s.io/captcluster"
	planeFinalizer          = "controlplane.cluster.x-k8s.io/captcontrolplane"
	applyFinalizer          = "infrastructure.cluster.x-k8s.io/finalizer"

	// managers under whose names CAPT and core write.
	captManager = client.FieldOwner("capt")
	coreManager = client.FieldOwner("manager")

	endpoint = "https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"
)

// Others are CAPT and the core of Cluster API. They follow what Terraform does, and what we do.
type others interface {
	// Follow says that something happened that the others react to.
	follow(s *stage, m moment)
}

// A moment is when the others do something.
type moment string

// Moments in the life of a cluster.
const (
	applied      moment = "the Cluster is applied"
	begun        moment = "CAPT begins"
	vpcDone      moment = "the VPC is there"
	planeDone    moment = "the control plane is there"
	planeLost    moment = "the control plane is not ready any more"
	planeFailed  moment = "a passing error is taken for a failure"
	secretsDone  moment = "the kubeconfig is written"
	planeDeleted moment = "the Cluster is deleted"
	allDeleted   moment = "the control plane is gone"
)

// A recorded reaction is what CAPT and core were seen to write.
type recorded struct{}

func (recorded) follow(s *stage, m moment) {
	s.Helper()
	map[moment]func(){
		applied: s.takeOver, begun: s.begin, vpcDone: s.vpc, planeDone: s.plane, planeLost: s.lose, planeFailed: s.fail, secretsDone: s.secrets,
		planeDeleted: s.deletePlane, allDeleted: s.deleteRest,
	}[m]()
}

// edit an object as its controller does: all of it, as it was read.
func (s *stage) edit(o *unstructured.Unstructured, by client.FieldOwner, fn func(*unstructured.Unstructured)) {
	s.Helper()
	s.must(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := kube.Get(s.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		fn(o)
		return kube.Update(s.Context(), o, by)
	}))
}

// status merges into an object's status, as its controller does.
func (s *stage) status(o *unstructured.Unstructured, by client.FieldOwner, status map[string]any) {
	s.Helper()
	patch, err := json.Marshal(map[string]any{"status": status})
	s.must(err)
	s.must(kube.Status().Patch(s.Context(), o.DeepCopy(), client.RawPatch(types.MergePatchType, patch), by))
}

// takeOver: core owns the objects that the Cluster refers to, and all protect what they have.
func (s *stage) takeOver() {
	s.Helper()
	s.edit(s.named("Cluster"), coreManager, func(u *unstructured.Unstructured) { controllerutil.AddFinalizer(u, clusterFinalizer) })
	c := s.live("Cluster")
	owner := metav1.OwnerReference{APIVersion: c.GetAPIVersion(), Kind: "Cluster", Name: c.GetName(), UID: c.GetUID(), Controller: new(true), BlockOwnerDeletion: new(true)}
	for kind, finalizer := range map[string]string{"CAPTCluster": infrastructureFinalizer, "CAPTControlPlane": planeFinalizer} {
		s.edit(s.named(kind), coreManager, func(u *unstructured.Unstructured) {
			u.SetOwnerReferences([]metav1.OwnerReference{owner})
			labels := u.GetLabels()
			labels["cluster.x-k8s.io/cluster-name"] = c.GetName()
			u.SetLabels(labels)
		})
		s.edit(s.named(kind), captManager, func(u *unstructured.Unstructured) { controllerutil.AddFinalizer(u, finalizer) })
	}
	s.status(c, coreManager, map[string]any{"phase": "Provisioning"})
}

// begin: CAPT writes the names of its applies into the specs of both, and makes the first Workspace.
func (s *stage) begin() {
	s.Helper()
	for kind, apply := range map[string]string{"CAPTCluster": s.namespace + "-vpc", "CAPTControlPlane": s.namespace + "-eks-controlplane-apply"} {
		s.edit(s.named(kind), captManager, func(u *unstructured.Unstructured) {
			s.must(unstructured.SetNestedField(u.Object, apply, "spec", "workspaceTemplateApplyName"))
			// What is false is lost when CAPT writes all of the object.
			unstructured.RemoveNestedField(u.Object, "spec", "controlPlaneConfig", "endpointAccess", "private")
		})
	}
	s.edit(s.named("CAPTControlPlane"), captManager, func(u *unstructured.Unstructured) { s.must(noEndpoint(u)) })
	s.apply("vpc", s.namespace+"-vpc", s.namespace+"-vpc")
	s.must(kube.Create(s.Context(), s.parse("WorkspaceTemplateApply", fmt.Sprintf("metadata: {name: %[1]s-eks-controlplane-apply, finalizers: [%[2]s]}\nspec: {templateRef: {name: eks}, waitForWorkspaces: [{name: %[1]s-vpc}]}", s.namespace, applyFinalizer))))
	s.waiting()
}

// noEndpoint is how CAPT writes that there is none.
func noEndpoint(u *unstructured.Unstructured) error {
	return unstructured.SetNestedMap(u.Object, map[string]any{"host": "", "port": int64(0)}, "spec", "controlPlaneEndpoint")
}

// apply makes a WorkspaceTemplateApply, unless it is there, and the Workspace that follows from it.
func (s *stage) apply(template, name, workspace string) {
	s.Helper()
	a := s.parse("WorkspaceTemplateApply", fmt.Sprintf("metadata: {name: %s}\nspec: {templateRef: {name: %s}}", name, template))
	s.must(client.IgnoreAlreadyExists(kube.Create(s.Context(), a)))
	w := s.parse("Workspace", fmt.Sprintf("metadata: {name: %s}\nspec: {forProvider: {source: Inline, module: ''}}", workspace))
	s.must(kube.Create(s.Context(), w, captManager))
	s.status(s.live("WorkspaceTemplateApply", name), captManager, map[string]any{"applied": true, "workspaceName": workspace, "lastAppliedTime": stamp()})
}

func stamp() string { return time.Now().UTC().Format(time.RFC3339) }

// waiting: the control plane is not there.
func (s *stage) waiting() {
	s.Helper()
	s.status(s.live("CAPTControlPlane"), captManager, map[string]any{
		"ready": false, "initialized": false, "phase": "Creating", "failureReason": nil, "failureMessage": nil,
		"conditions": []any{condition("Ready", "False", "Creating", "Control plane is being created")},
	})
	s.status(s.live("Cluster"), captManager, map[string]any{
		"controlPlaneReady": false, "conditions": []any{
			with(condition("ControlPlaneInitialized", "False", "ControlPlaneNotReady", "Control plane is not ready"), "severity", "Info"),
		},
	})
}

func with(m map[string]any, key string, value any) map[string]any {
	m[key] = value
	return m
}

func (s *stage) vpc() {
	s.Helper()
	s.status(s.live("CAPTCluster"), captManager, map[string]any{
		"ready": true, "vpcId": "vpc-1", "conditions": []any{condition("VPCReady", "True", "VPCCreated", "VPC has been successfully created")},
	})
	s.status(s.live("Cluster"), captManager, map[string]any{"infrastructureReady": true, "failureReason": nil, "failureMessage": nil})
	if s.live("Workspace", s.namespace+"-eks-controlplane") == nil {
		s.apply("eks", s.namespace+"-eks-controlplane-apply", s.namespace+"-eks-controlplane")
	}
}

// plane: CAPT writes the whole URL where a host belongs, on both objects. Core says Provisioned then.
func (s *stage) plane() {
	s.Helper()
	for _, kind := range []string{"CAPTControlPlane", "Cluster"} {
		s.edit(s.named(kind), captManager, func(u *unstructured.Unstructured) {
			s.must(unstructured.SetNestedMap(u.Object, map[string]any{"host": endpoint, "port": int64(443)}, "spec", "controlPlaneEndpoint"))
		})
	}
	s.status(s.live("CAPTControlPlane"), captManager, map[string]any{
		"ready": true, "initialized": true, "phase": "Ready", "failureReason": nil, "failureMessage": nil,
		"conditions": []any{condition("Ready", "True", "Ready", "Control plane is ready")},
	})
	status := map[string]any{"controlPlaneReady": true, "phase": "Provisioned"}
	if ready, _, _ := unstructured.NestedBool(s.live("CAPTControlPlane").Object, "status", "secretsReady"); ready {
		status["conditions"] = []any{map[string]any{"type": "ControlPlaneInitialized", "status": "True", "lastTransitionTime": stamp()}}
	}
	s.status(s.live("Cluster"), captManager, status)
}

// lose: CAPT takes back that the control plane was ever initialized.
func (s *stage) lose() { s.waiting() }

// fail: CAPT takes any error for a failure, and never clears it on the Cluster while the infrastructure is not written again.
func (s *stage) fail() {
	s.Helper()
	reason := map[string]any{"failureReason": "EndpointUpdateFailed", "failureMessage": "Failed to get endpoint from workspace"}
	s.status(s.live("Cluster"), captManager, reason)
	s.status(s.live("Cluster"), coreManager, map[string]any{"phase": "Failed"})
}

// secrets: CAPT copies what Terraform put out, empty or not.
func (s *stage) secrets() {
	s.Helper()
	if s.live("WorkspaceTemplateApply", s.namespace+"-kubeconfig-apply") == nil {
		s.apply("eks-kubeconfig-template", s.namespace+"-kubeconfig-apply", s.namespace+"-kubeconfig")
	}
	out := s.parse("Secret", fmt.Sprintf("metadata: {name: %s-outputs-kubeconfig, namespace: default}", s.namespace))
	s.must(kube.Get(s.Context(), client.ObjectKeyFromObject(out), out))
	value, _, _ := unstructured.NestedString(out.Object, "data", "kubeconfig")
	s.yaml("Secret", fmt.Sprintf("metadata: {name: %[1]s-kubeconfig, labels: {cluster.x-k8s.io/cluster-name: %[1]s}}\ntype: cluster.x-k8s.io/secret\ndata: {value: %[2]q}", s.namespace, value))
	s.status(s.live("CAPTControlPlane"), captManager, map[string]any{"secretsReady": true})
	s.plane()
}

// deletePlane: core deletes the control plane before anything else, and CAPT takes the endpoint back.
func (s *stage) deletePlane() {
	s.Helper()
	s.status(s.live("Cluster"), coreManager, map[string]any{"phase": "Deleting", "v1beta2": map[string]any{"conditions": []any{
		condition("Deleting", "True", "WaitingForControlPlaneDeletion", "CAPTControlPlane "+s.namespace+" is being deleted"),
	}}})
	s.must(kube.Delete(s.Context(), s.named("CAPTControlPlane")))
	s.edit(s.named("Cluster"), captManager, func(u *unstructured.Unstructured) {
		s.must(noEndpoint(u))
	})
	s.must(kube.Delete(s.Context(), s.named("WorkspaceTemplateApply", s.namespace+"-eks-controlplane-apply")))
	s.must(kube.Delete(s.Context(), s.named("Workspace", s.namespace+"-eks-controlplane")))
}

// deleteRest: once the Workspace is gone the control plane goes, then the infrastructure, then the Cluster.
func (s *stage) deleteRest() {
	s.Helper()
	s.vanishes("Workspace", s.namespace+"-eks-controlplane")
	for _, suffix := range []string{"-kubeconfig-apply", "-kubeconfig"} {
		kind := map[string]string{"-kubeconfig-apply": "WorkspaceTemplateApply", "-kubeconfig": "Workspace"}[suffix]
		s.must(client.IgnoreNotFound(kube.Delete(s.Context(), s.named(kind, s.namespace+suffix))))
	}
	s.release("WorkspaceTemplateApply", applyFinalizer, s.namespace+"-eks-controlplane-apply")
	s.release("CAPTControlPlane", planeFinalizer)
	s.must(kube.Delete(s.Context(), s.named("CAPTCluster")))
	s.must(client.IgnoreNotFound(kube.Delete(s.Context(), s.named("WorkspaceTemplateApply", s.namespace+"-vpc"))))
	s.must(client.IgnoreNotFound(kube.Delete(s.Context(), s.named("Workspace", s.namespace+"-vpc"))))
	s.release("CAPTCluster", infrastructureFinalizer)
	s.must(client.IgnoreNotFound(kube.Delete(s.Context(), s.named("Secret", s.namespace+"-kubeconfig"))))
	s.release("Cluster", clusterFinalizer)
}

// release what a controller protected.
func (s *stage) release(kind, finalizer string, name ...string) {
	s.Helper()
	s.edit(s.named(kind, name...), captManager, func(u *unstructured.Unstructured) { controllerutil.RemoveFinalizer(u, finalizer) })
	s.vanishes(kind, name...)
}

// terraform says what became of a Workspace, as the provider of Terraform does. An error is in Synced, and nowhere else.
func (s *stage) terraform(workspace, failure string, ready bool, outputs map[string]any) {
	s.Helper()
	w := s.appears("Workspace", s.namespace+workspace)
	synced, state := condition("Synced", "True", "ReconcileSuccess", ""), condition("Ready", "False", "Creating", "")
	if failure != "" {
		synced = condition("Synced", "False", "ReconcileError", failure)
	}
	if ready {
		state = condition("Ready", "True", "Available", "")
	}
	s.status(w, "terraform", map[string]any{"atProvider": map[string]any{"outputs": outputs}, "conditions": []any{synced, state}})
}

// kubeconfig is what Terraform puts out, or nothing.
func (s *stage) kubeconfig(path string) {
	s.Helper()
	data := ""
	if path != "" {
		b, err := os.ReadFile(path)
		s.must(err)
		data = "kubeconfig: " + base64.StdEncoding.EncodeToString(b)
	}
	s.yaml("Secret", fmt.Sprintf("metadata: {name: %s-outputs-kubeconfig, namespace: default}\ndata: {%s}", s.namespace, data))
}
