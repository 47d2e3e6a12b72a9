package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func script(change func(*deploymentv1alpha1.JobCheck)) v1alpha1.GateCheck {
	c := check("smoke", "edge1")
	c.Type, c.Prometheus, c.Threshold = "Job", nil, ""
	c.Job = &deploymentv1alpha1.JobCheck{Image: "busybox:1", Script: "exit 0"}
	if change != nil {
		change(c.Job)
	}
	return c
}

// made returns the Jobs in the cluster.
func (w *world) made() []unstructured.Unstructured {
	w.Helper()
	l, err := w.cluster.Resource(jobs()).Namespace("checks").List(w.Context(), metav1.ListOptions{})
	w.must(err)
	return l.Items
}

// end the Job, as its controller does, and its pod with what the script said.
func (w *world) end(condition batchv1.JobConditionType, reason string, exit int32, said string) {
	w.Helper()
	j := w.made()[0]
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{
		Namespace: "checks", Name: "pod", Labels: map[string]string{"batch.kubernetes.io/job-name": j.GetName()},
	}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "check", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Message: said}}}}
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
	w.must(err)
	_, err = w.cluster.Resource(pods()).Namespace("checks").Create(w.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{})
	w.must(err)
	w.must(unstructured.SetNestedSlice(j.Object, []any{map[string]any{"type": string(condition), "status": "True", "reason": reason}}, "status", "conditions"))
	_, err = w.cluster.Resource(jobs()).Namespace("checks").Update(w.Context(), &j, metav1.UpdateOptions{})
	w.must(err)
}

func TestJob(t *testing.T) {
	cases := map[string]struct {
		reason    string
		condition batchv1.JobConditionType
		why       string
		exit      int32
		said      string
		want      string
		result    string
	}{
		"Passes":   {reason: "Exit code 0 passes.", condition: batchv1.JobComplete, want: "Passed/Passed/Passed", result: "exit 0|"},
		"Violated": {reason: "Exit code 3 says that it is violated.", condition: batchv1.JobFailed, why: "PodFailurePolicy", exit: 3, said: "2 of 7\n\x1b[31mfailed\n", want: "Failed/Failed/Failed", result: "exit 3|2 of 7\n[31mfailed"},
		"Broken":   {reason: "Any other one says that it could not check.", condition: batchv1.JobFailed, why: "BackoffLimitExceeded", exit: 127, said: "curl: not found", want: "Error/Error/Error", result: "exit 127|curl: not found"},
		"Slow":     {reason: "The Job ends in time.", condition: batchv1.JobFailed, why: "DeadlineExceeded", want: "TimedOut/TimedOut/TimedOut", result: "|the script took too long, or could not be started"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(nil))
			w.reconcile()
			if got := w.state(); got != "Measuring//Running" || len(w.made()) != 1 {
				t.Fatalf("it begins: %s, with %d Jobs", got, len(w.made()))
			}
			// A restart makes no second one.
			w.c.memory = newMemory()
			w.reconcile()
			w.end(tc.condition, tc.why, tc.exit, tc.said)
			w.until(tc.want)
			r := w.get().Status.AtProvider.Checks[0]
			if got := r.Value + "|" + r.Message; got != tc.result {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.result, got)
			}
			w.reconcile()
			if n := len(w.made()); n != 1 {
				t.Errorf("there are %d Jobs", n)
			}
		})
	}
}

// TestJobInNamedCluster runs a Job with the kubeconfig that the Site names, or with that of the Cluster that it names.
func TestJobInNamedCluster(t *testing.T) {
	kubeconfig := func(key string) *catalogv1alpha1.NamespacedSecretKeySelector {
		return &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "admin", Name: "edge1", Key: key}
	}
	cases := map[string]struct {
		reason  string
		cluster catalogv1alpha1.SiteCluster
		secret  *corev1.Secret
		want    []string
	}{
		"Secret": {
			reason: "An administrator names a Secret.", cluster: catalogv1alpha1.SiteCluster{KubeconfigSecretRef: kubeconfig("k")},
			secret: held("admin", "edge1", "k"), want: []string{" of edge1"},
		},
		"Default": {
			reason: "Its key has a default.", cluster: catalogv1alpha1.SiteCluster{KubeconfigSecretRef: kubeconfig("")},
			secret: held("admin", "edge1", "value"), want: []string{" of edge1"},
		},
		"Cluster": {
			reason: "Or a Cluster, whose Secret is a tenant's.", cluster: inCluster("c1"),
			secret: held("team-a", "c1-kubeconfig", "value"), want: []string{"tenant of c1-kubeconfig"},
		},
		"NotYet": {reason: "It may not have one yet.", cluster: inCluster("c2"), secret: held("team-a", "c1-kubeconfig", "value")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(nil))
			s := w.site()
			s.Spec.Cluster = tc.cluster
			w.must(w.kube.Update(t.Context(), s))
			w.must(w.kube.Create(t.Context(), tc.secret))
			w.reconcile()
			if diff := cmp.Diff(tc.want, w.dialled); diff != "" || len(w.made()) != len(tc.want) {
				t.Errorf("%s\n%d Jobs, clusters that were reached: -want, +got:\n%s", tc.reason, len(w.made()), diff)
			}
		})
	}
}

func inCluster(cluster string) catalogv1alpha1.SiteCluster {
	return catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{
		APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "team-a", Name: cluster,
	}}
}

// held is a Secret with a kubeconfig.
func held(namespace, name, key string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{key: []byte("of " + name)}}
}

func TestJobIsNotRun(t *testing.T) {
	good := sha256.Sum256([]byte("exit 0"))
	pinned := func(name, digest string) func(*deploymentv1alpha1.JobCheck) {
		return func(j *deploymentv1alpha1.JobCheck) {
			j.Script, j.ConfigMapKeyRef = "", &deploymentv1alpha1.ConfigMapKeySelector{Name: name, Key: "run", SHA256: digest}
		}
	}
	cases := map[string]struct {
		reason string
		change func(*deploymentv1alpha1.JobCheck)
		want   string
	}{
		"Image":    {reason: "A Site says which images it runs.", change: func(j *deploymentv1alpha1.JobCheck) { j.Image = "busybox:2" }, want: "job: image: "},
		"Account":  {reason: "And as whom.", change: func(j *deploymentv1alpha1.JobCheck) { j.ServiceAccountName = "admin" }, want: "job: serviceAccountName: "},
		"Changed":  {reason: "A script is what its digest says.", change: pinned("scripts", strings.Repeat("0", 64)), want: "configMapKeyRef.sha256: "},
		"NoScript": {reason: "And it is there.", change: pinned("other", hex.EncodeToString(good[:])), want: "configMapKeyRef: "},
		"Pinned":   {reason: "Then it is run.", change: pinned("scripts", hex.EncodeToString(good[:]))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(tc.change))
			w.must(w.kube.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "scripts"}, Data: map[string]string{"run": "exit 0"}}))
			w.reconcile()
			got := w.get().Status.AtProvider.Checks[0].Message
			if !strings.HasPrefix(got, tc.want) || (tc.want == "") != (len(w.made()) == 1) {
				t.Errorf("%s\nwant %q, got %q, and %d Jobs", tc.reason, tc.want, got, len(w.made()))
			}
		})
	}
}

func TestNobodyRunsJobs(t *testing.T) {
	w := newWorld(t, script(nil))
	now := time.Now()
	w.c.now = func() time.Time { return now }
	w.reconcile()
	<-w.woken                      // The watch saw the Job.
	now = now.Add(2 * time.Minute) // The check has one, and the cluster another one.
	w.reconcile()
	if got := w.state(); got != "TimedOut/TimedOut/TimedOut" {
		t.Errorf("nothing runs Jobs: %s", got)
	}
}
