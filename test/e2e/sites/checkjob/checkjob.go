// Package checkjob simulates a kubelet for the pods of the Jobs of checks, and reads their Gates.
package checkjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/job"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

const checker = "checker"

// Image is the image that the Site allows for checks.
const Image = "registry.example.org/checker:1"

// A Kubelet is simulated, in a namespace that enforces restricted pods. All else is real: the provider makes the Job as its own account, the API server
// admits it, and the Job controller makes the pod and reports the result.
type Kubelet struct {
	*scene.Scene

	// Checks is the namespace of the Jobs.
	Checks string
}

// New configures a separate namespace for checks of the Site edge1.
func New(s *scene.Scene) *Kubelet {
	s.T.Helper()
	k := &Kubelet{Scene: s, Checks: s.Namespace + "-checks"}
	in := metav1.ObjectMeta{Namespace: k.Checks, Name: checker}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: k.Checks, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}},
		&corev1.ServiceAccount{ObjectMeta: in},
		&rbacv1.RoleBinding{
			ObjectMeta: in, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "intentplane:checks"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: controlplane.Namespace, Name: controlplane.ProviderServiceAccount}},
		},
	} {
		k.Must(k.Client.Create(k.T.Context(), o))
	}
	k.Apply(k.Set(k.NewSite("edge1"), map[string]any{"namespace": k.Checks, "serviceAccountName": checker, "allowedImages": []any{Image}}, "spec", "postCheck"))
	return k
}

// EndScript ends the script of a claim: the container of its pod reports the exit code and the last message.
func (k *Kubelet) EndScript(script string, code int32, message string) {
	k.T.Helper()
	var pod *corev1.Pod
	k.Until("the pod of "+script, patience.Limit, func() bool {
		l := &corev1.PodList{}
		k.Must(k.Client.List(k.T.Context(), l, client.InNamespace(k.Checks)))
		for i := range l.Items {
			if l.Items[i].Spec.Containers[0].Args[0] == script {
				pod = &l.Items[i]
			}
		}
		return pod != nil
	})
	if pod.Spec.ServiceAccountName != checker {
		k.T.Errorf("%s runs as %q", script, pod.Spec.ServiceAccountName)
	}
	phase := corev1.PodFailed
	if code == 0 {
		phase = corev1.PodSucceeded
	}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}
	now := pod.DeepCopy()
	now.Status.Phase, now.Status.ContainerStatuses = phase, []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: ended}}
	k.Must(k.Client.Status().Patch(k.T.Context(), now, client.MergeFrom(pod)))
}

// gateOfClaim returns the Gate of a claim, or nil.
func (k *Kubelet) gateOfClaim(claim string) *rolloutv1alpha1.Gate {
	k.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(rolloutv1alpha1.GroupVersion.WithKind("GateList"))
	k.Must(k.Client.List(k.T.Context(), l, client.InNamespace(k.Namespace)))
	for _, o := range l.Items {
		g := &rolloutv1alpha1.Gate{}
		k.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, g))
		if g.Spec.ForProvider.ClaimRef.Name == claim && len(g.Status.AtProvider.Checks) > 0 {
			return g
		}
	}
	return nil
}

// VerdictOfGate returns the verdict of a claim's Gate, with the result of its check.
func (k *Kubelet) VerdictOfGate(claim string) []string {
	k.T.Helper()
	g := k.gateOfClaim(claim)
	if g == nil {
		return nil
	}
	observation := g.Status.AtProvider
	return []string{string(observation.Verdict), observation.Checks[0].Value, observation.Checks[0].Message}
}

// CompareJob compares the Job of a claim, with all that the API server filled in, to the Job that the provider would make, and its UID to the
// Gate's.
func (k *Kubelet) CompareJob(claim string) {
	k.T.Helper()
	g, site := k.gateOfClaim(claim), &catalogv1alpha1.Site{}
	c, ref := g.Spec.ForProvider.Checks[0], g.Status.AtProvider.Checks[0].JobRef
	if ref == nil {
		k.T.Fatalf("%s: the status of the Gate names no Job", claim)
		return
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(catalogv1alpha1.GroupVersion.WithKind("Site"))
	k.Must(k.Client.Get(k.T.Context(), client.ObjectKey{Name: c.Site}, u))
	k.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, site))
	rules, err := gates.RulesOf(c.Check)
	k.Must(err)
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
	k.Must(k.Client.Get(k.T.Context(), client.ObjectKey{Namespace: k.Checks, Name: ref.Name}, o))
	if field := job.Differs(job.Input{Gate: string(g.GetUID()), Check: c, Site: site, Rules: rules}, o); field != "" || string(o.GetUID()) != ref.UID {
		k.T.Errorf("%s: the Job with UID %s differs in %q from the created Job, and the Gate names UID %s", claim, o.GetUID(), field, ref.UID)
	}
}

// FailureReason returns the reason that the Job controller reports for the failure of the Job of a script, or "".
func (k *Kubelet) FailureReason(script string) string {
	k.T.Helper()
	l := &batchv1.JobList{}
	k.Must(k.Client.List(k.T.Context(), l, client.InNamespace(k.Checks)))
	for _, j := range l.Items {
		for _, c := range j.Status.Conditions {
			if j.Spec.Template.Spec.Containers[0].Args[0] == script && c.Type == batchv1.JobFailed {
				return c.Reason
			}
		}
	}
	return ""
}
