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

// others are CAPT and the core of Cluster API. They follow Terraform's results, and our changes.
type others interface {
	// Follow says that something happened that the others react to.
	followCluster(s *stage, m moment)
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

// A recorded reaction repeats the recorded writes of CAPT and core.
type recorded struct{}

func (recorded) followCluster(s *stage, m moment) {
	s.Helper()
	map[moment]func(){
		applied: s.takeOwnership, begun: s.beginApplies, vpcDone: s.networkWorkspace, planeDone: s.writeEndpoint, planeLost: s.loseInitialized, planeFailed: s.failInfrastructure, secretsDone: s.copySecrets,
		planeDeleted: s.deletePlane, allDeleted: s.deleteRemaining,
	}[m]()
}

// editAsController edits an object as its controller does: all of it, as it was read.
func (s *stage) editAsController(o *unstructured.Unstructured, owner client.FieldOwner, fn func(*unstructured.Unstructured)) {
	s.Helper()
	s.requireNoError(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := kube.Get(s.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		fn(o)
		return kube.Update(s.Context(), o, owner)
	}))
}

// mergeStatus merges into an object's status, as its controller does.
func (s *stage) mergeStatus(o *unstructured.Unstructured, owner client.FieldOwner, status map[string]any) {
	s.Helper()
	patch, err := json.Marshal(map[string]any{"status": status})
	s.requireNoError(err)
	s.requireNoError(kube.Status().Patch(s.Context(), o.DeepCopy(), client.RawPatch(types.MergePatchType, patch), owner))
}

// takeOwnership: core owns the objects that the Cluster refers to, and all protect their objects.
func (s *stage) takeOwnership() {
	s.Helper()
	s.editAsController(s.namedObject("Cluster"), coreManager, func(u *unstructured.Unstructured) { controllerutil.AddFinalizer(u, clusterFinalizer) })
	c := s.liveObject("Cluster")
	owner := metav1.OwnerReference{APIVersion: c.GetAPIVersion(), Kind: "Cluster", Name: c.GetName(), UID: c.GetUID(), Controller: new(true), BlockOwnerDeletion: new(true)}
	for kind, finalizer := range map[string]string{"CAPTCluster": infrastructureFinalizer, "CAPTControlPlane": planeFinalizer} {
		s.editAsController(s.namedObject(kind), coreManager, func(u *unstructured.Unstructured) {
			u.SetOwnerReferences([]metav1.OwnerReference{owner})
			labels := u.GetLabels()
			labels["cluster.x-k8s.io/cluster-name"] = c.GetName()
			u.SetLabels(labels)
		})
		s.editAsController(s.namedObject(kind), captManager, func(u *unstructured.Unstructured) { controllerutil.AddFinalizer(u, finalizer) })
	}
	s.mergeStatus(c, coreManager, map[string]any{"phase": "Provisioning"})
}

// beginApplies: CAPT writes the names of its applies into the specs of both, and makes the first Workspace.
func (s *stage) beginApplies() {
	s.Helper()
	for kind, apply := range map[string]string{"CAPTCluster": s.namespace + "-vpc", "CAPTControlPlane": s.namespace + "-eks-controlplane-apply"} {
		s.editAsController(s.namedObject(kind), captManager, func(u *unstructured.Unstructured) {
			s.requireNoError(unstructured.SetNestedField(u.Object, apply, "spec", "workspaceTemplateApplyName"))
			// A false value is lost when CAPT writes all of the object.
			unstructured.RemoveNestedField(u.Object, "spec", "controlPlaneConfig", "endpointAccess", "private")
		})
	}
	s.editAsController(s.namedObject("CAPTControlPlane"), captManager, func(u *unstructured.Unstructured) { s.requireNoError(clearEndpoint(u)) })
	s.applyTemplate("vpc", s.namespace+"-vpc", s.namespace+"-vpc")
	s.requireNoError(kube.Create(s.Context(), s.parseYAML("WorkspaceTemplateApply", fmt.Sprintf("metadata: {name: %[1]s-eks-controlplane-apply, finalizers: [%[2]s]}\nspec: {templateRef: {name: eks}, waitForWorkspaces: [{name: %[1]s-vpc}]}", s.namespace, applyFinalizer))))
	s.playWaiting()
}

// clearEndpoint is how CAPT writes that there is none.
func clearEndpoint(u *unstructured.Unstructured) error {
	return unstructured.SetNestedMap(u.Object, map[string]any{"host": "", "port": int64(0)}, "spec", "controlPlaneEndpoint")
}

// applyTemplate makes a WorkspaceTemplateApply, unless it is there, and the Workspace that follows from it.
func (s *stage) applyTemplate(template, name, workspace string) {
	s.Helper()
	a := s.parseYAML("WorkspaceTemplateApply", fmt.Sprintf("metadata: {name: %s}\nspec: {templateRef: {name: %s}}", name, template))
	s.requireNoError(client.IgnoreAlreadyExists(kube.Create(s.Context(), a)))
	w := s.parseYAML("Workspace", fmt.Sprintf("metadata: {name: %s}\nspec: {forProvider: {source: Inline, module: ''}}", workspace))
	s.requireNoError(kube.Create(s.Context(), w, captManager))
	s.mergeStatus(s.liveObject("WorkspaceTemplateApply", name), captManager, map[string]any{"applied": true, "workspaceName": workspace, "lastAppliedTime": timestampOf()})
}

func timestampOf() string { return time.Now().UTC().Format(time.RFC3339) }

// playWaiting: the control plane is not there.
func (s *stage) playWaiting() {
	s.Helper()
	s.mergeStatus(s.liveObject("CAPTControlPlane"), captManager, map[string]any{
		"ready": false, "initialized": false, "phase": "Creating", "failureReason": nil, "failureMessage": nil,
		"conditions": []any{conditionOf("Ready", "False", "Creating", "Control plane is being created")},
	})
	s.mergeStatus(s.liveObject("Cluster"), captManager, map[string]any{
		"controlPlaneReady": false, "conditions": []any{
			withMapField(conditionOf("ControlPlaneInitialized", "False", "ControlPlaneNotReady", "Control plane is not ready"), "severity", "Info"),
		},
	})
}

func withMapField(m map[string]any, key string, value any) map[string]any {
	m[key] = value
	return m
}

func (s *stage) networkWorkspace() {
	s.Helper()
	s.mergeStatus(s.liveObject("CAPTCluster"), captManager, map[string]any{
		"ready": true, "vpcId": "vpc-1", "conditions": []any{conditionOf("VPCReady", "True", "VPCCreated", "VPC has been successfully created")},
	})
	s.mergeStatus(s.liveObject("Cluster"), captManager, map[string]any{"infrastructureReady": true, "failureReason": nil, "failureMessage": nil})
	if s.liveObject("Workspace", s.namespace+"-eks-controlplane") == nil {
		s.applyTemplate("eks", s.namespace+"-eks-controlplane-apply", s.namespace+"-eks-controlplane")
	}
}

// writeEndpoint: CAPT writes the whole URL where a host belongs, on both objects. Core says Provisioned then.
func (s *stage) writeEndpoint() {
	s.Helper()
	for _, kind := range []string{"CAPTControlPlane", "Cluster"} {
		s.editAsController(s.namedObject(kind), captManager, func(u *unstructured.Unstructured) {
			s.requireNoError(unstructured.SetNestedMap(u.Object, map[string]any{"host": endpoint, "port": int64(443)}, "spec", "controlPlaneEndpoint"))
		})
	}
	s.mergeStatus(s.liveObject("CAPTControlPlane"), captManager, map[string]any{
		"ready": true, "initialized": true, "phase": "Ready", "failureReason": nil, "failureMessage": nil,
		"conditions": []any{conditionOf("Ready", "True", "Ready", "Control plane is ready")},
	})
	status := map[string]any{"controlPlaneReady": true, "phase": "Provisioned"}
	if ready, _, _ := unstructured.NestedBool(s.liveObject("CAPTControlPlane").Object, "status", "secretsReady"); ready {
		status["conditions"] = []any{map[string]any{"type": "ControlPlaneInitialized", "status": "True", "lastTransitionTime": timestampOf()}}
	}
	s.mergeStatus(s.liveObject("Cluster"), captManager, status)
}

// loseInitialized: CAPT takes back that the control plane was ever initialized.
func (s *stage) loseInitialized() { s.playWaiting() }

// failInfrastructure: CAPT takes any error for a failure, and never clears it on the Cluster while the infrastructure is not written again.
func (s *stage) failInfrastructure() {
	s.Helper()
	reason := map[string]any{"failureReason": "EndpointUpdateFailed", "failureMessage": "Failed to get endpoint from workspace"}
	s.mergeStatus(s.liveObject("Cluster"), captManager, reason)
	s.mergeStatus(s.liveObject("Cluster"), coreManager, map[string]any{"phase": "Failed"})
}

// copySecrets: CAPT copies the outputs of Terraform, empty or not.
func (s *stage) copySecrets() {
	s.Helper()
	if s.liveObject("WorkspaceTemplateApply", s.namespace+"-kubeconfig-apply") == nil {
		s.applyTemplate("eks-kubeconfig-template", s.namespace+"-kubeconfig-apply", s.namespace+"-kubeconfig")
	}
	out := s.parseYAML("Secret", fmt.Sprintf("metadata: {name: %s-outputs-kubeconfig, namespace: default}", s.namespace))
	s.requireNoError(kube.Get(s.Context(), client.ObjectKeyFromObject(out), out))
	value, _, _ := unstructured.NestedString(out.Object, "data", "kubeconfig")
	s.applyYAML("Secret", fmt.Sprintf("metadata: {name: %[1]s-kubeconfig, labels: {cluster.x-k8s.io/cluster-name: %[1]s}}\ntype: cluster.x-k8s.io/secret\ndata: {value: %[2]q}", s.namespace, value))
	s.mergeStatus(s.liveObject("CAPTControlPlane"), captManager, map[string]any{"secretsReady": true})
	s.writeEndpoint()
}

// deletePlane: core deletes the control plane before anything else, and CAPT takes the endpoint back.
func (s *stage) deletePlane() {
	s.Helper()
	s.mergeStatus(s.liveObject("Cluster"), coreManager, map[string]any{"phase": "Deleting", "v1beta2": map[string]any{"conditions": []any{
		conditionOf("Deleting", "True", "WaitingForControlPlaneDeletion", "CAPTControlPlane "+s.namespace+" is being deleted"),
	}}})
	s.requireNoError(kube.Delete(s.Context(), s.namedObject("CAPTControlPlane")))
	s.editAsController(s.namedObject("Cluster"), captManager, func(u *unstructured.Unstructured) { s.requireNoError(clearEndpoint(u)) })
	s.requireNoError(kube.Delete(s.Context(), s.namedObject("WorkspaceTemplateApply", s.namespace+"-eks-controlplane-apply")))
	s.requireNoError(kube.Delete(s.Context(), s.namedObject("Workspace", s.namespace+"-eks-controlplane")))
}

// deleteRemaining deletes the remaining objects: once the Workspace is gone the control plane goes, then the infrastructure, then the Cluster.
func (s *stage) deleteRemaining() {
	s.Helper()
	s.awaitVanished("Workspace", s.namespace+"-eks-controlplane")
	for _, suffix := range []string{"-kubeconfig-apply", "-kubeconfig"} {
		kind := map[string]string{"-kubeconfig-apply": "WorkspaceTemplateApply", "-kubeconfig": "Workspace"}[suffix]
		s.requireNoError(client.IgnoreNotFound(kube.Delete(s.Context(), s.namedObject(kind, s.namespace+suffix))))
	}
	s.releaseProtected("WorkspaceTemplateApply", applyFinalizer, s.namespace+"-eks-controlplane-apply")
	s.releaseProtected("CAPTControlPlane", planeFinalizer)
	s.requireNoError(kube.Delete(s.Context(), s.namedObject("CAPTCluster")))
	s.requireNoError(client.IgnoreNotFound(kube.Delete(s.Context(), s.namedObject("WorkspaceTemplateApply", s.namespace+"-vpc"))))
	s.requireNoError(client.IgnoreNotFound(kube.Delete(s.Context(), s.namedObject("Workspace", s.namespace+"-vpc"))))
	s.releaseProtected("CAPTCluster", infrastructureFinalizer)
	s.requireNoError(client.IgnoreNotFound(kube.Delete(s.Context(), s.namedObject("Secret", s.namespace+"-kubeconfig"))))
	s.releaseProtected("Cluster", clusterFinalizer)
}

// releaseProtected releases an object that a controller protected.
func (s *stage) releaseProtected(kind, finalizer string, name ...string) {
	s.Helper()
	s.editAsController(s.namedObject(kind, name...), captManager, func(u *unstructured.Unstructured) { controllerutil.RemoveFinalizer(u, finalizer) })
	s.awaitVanished(kind, name...)
}

// reportTerraform reports the result of a Workspace, as the provider of Terraform does. An error is in Synced, and nowhere else.
func (s *stage) reportTerraform(workspace, failure string, ready bool, outputs map[string]any) {
	s.Helper()
	w := s.awaitObject("Workspace", s.namespace+workspace)
	synced, state := conditionOf("Synced", "True", "ReconcileSuccess", ""), conditionOf("Ready", "False", "Creating", "")
	if failure != "" {
		synced = conditionOf("Synced", "False", "ReconcileError", failure)
	}
	if ready {
		state = conditionOf("Ready", "True", "Available", "")
	}
	s.mergeStatus(w, "terraform", map[string]any{"atProvider": map[string]any{"outputs": outputs}, "conditions": []any{synced, state}})
}

// reportKubeconfig is the output of Terraform, or nothing.
func (s *stage) reportKubeconfig(path string) {
	s.Helper()
	data := ""
	if path != "" {
		b, err := os.ReadFile(path)
		s.requireNoError(err)
		data = "kubeconfig: " + base64.StdEncoding.EncodeToString(b)
	}
	s.applyYAML("Secret", fmt.Sprintf("metadata: {name: %s-outputs-kubeconfig, namespace: default}\ndata: {%s}", s.namespace, data))
}
