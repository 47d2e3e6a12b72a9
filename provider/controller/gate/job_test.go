package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/job"
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
	l, err := w.cluster.Resource(jobResource()).Namespace("checks").List(w.Context(), metav1.ListOptions{})
	w.must(err)
	return l.Items
}

// end the Job, as its controller does, and its pod with the output of the script.
func (w *world) end(condition batchv1.JobConditionType, reason string, exit int32, message string) {
	w.Helper()
	w.endWithPod(condition, reason, func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "check", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Message: message}}}}
	})
}

// endWithPod ends the last Job, as its controller does, and its pod with a change. Without a change the pod is gone.
func (w *world) endWithPod(condition batchv1.JobConditionType, reason string, change func(*corev1.Pod)) {
	w.Helper()
	j := slices.MaxFunc(w.made(), func(a, b unstructured.Unstructured) int { return len(a.GetName()) - len(b.GetName()) })
	if change != nil {
		p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{
			Namespace: "checks", Name: j.GetName(), Labels: map[string]string{batchv1.ControllerUidLabel: string(j.GetUID())},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&j, batchv1.SchemeGroupVersion.WithKind("Job"))},
		}}
		change(p)
		w.addPod(p)
	}
	ended := map[string]any{"type": string(condition), "status": "True", "reason": reason, "lastTransitionTime": w.c.now().UTC().Format(time.RFC3339)}
	w.must(unstructured.SetNestedSlice(j.Object, []any{ended}, "status", "conditions"))
	_, err := w.cluster.Resource(jobResource()).Namespace("checks").Update(w.Context(), &j, metav1.UpdateOptions{})
	w.must(err)
}

// addPod creates a pod in the cluster.
func (w *world) addPod(p *corev1.Pod) {
	w.Helper()
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
	w.must(err)
	_, err = w.cluster.Resource(podResource()).Namespace("checks").Create(w.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{})
	w.must(err)
}

// TestForeignPod has a user make a pod with the labels of the Job's pods, which looks like a pod that the infrastructure ended. The Job does not own it.
func TestForeignPod(t *testing.T) {
	w := newWorld(t, script(nil))
	w.reconcile()
	j := w.made()[0]
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{
		Namespace: "checks", Name: "a-foreign-pod", Labels: map[string]string{
			batchv1.ControllerUidLabel: string(j.GetUID()), batchv1.JobNameLabel: j.GetName(),
		},
	}}
	drainPod(p)
	w.addPod(p)
	w.end(batchv1.JobFailed, "BackoffLimitExceeded", 127, "curl: not found")
	w.judged()
	if diff := cmp.Diff("Error/Error/Error", w.state()); diff != "" {
		t.Errorf("The pod of another user does not change the result of a Job.\nstate: -want, +got:\n%s", diff)
	}
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
		"Passes": {reason: "Exit code 0 passes.", condition: batchv1.JobComplete, want: "Passed/Passed/Passed", result: "exit 0|"},
		"Violated": {
			reason:    "Exit code 3 says that it is violated.",
			condition: batchv1.JobFailed, why: "PodFailurePolicy", exit: 3, said: "2 of 7\n\x1b[31mfailed\n", want: "Failed/Failed/Failed",
			result: "exit 3|2 of 7\n[31mfailed",
		},
		"Broken": {
			reason:    "A Job with any other exit code could not check.",
			condition: batchv1.JobFailed, why: "BackoffLimitExceeded", exit: 127, said: "curl: not found", want: "Error/Error/Error",
			result: "exit 127|curl: not found",
		},
		"Slow": {
			reason:    "The Job ends in time.",
			condition: batchv1.JobFailed, why: "DeadlineExceeded", want: "TimedOut/TimedOut/TimedOut",
			result: "|the script took too long, or could not be started",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(nil))
			w.reconcile()
			if got := w.state(); got != "Measuring//Running" || len(w.made()) != 1 {
				t.Fatalf("it begins: %s, with %d Jobs", got, len(w.made()))
			}
			// A restart makes no second Job.
			w.c.memory = newNoteMemory()
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

// drainPod makes a pod of a check end as "kubectl drain" ends it.
func drainPod(p *corev1.Pod) {
	p.Status.Phase = corev1.PodFailed
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "check", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}}}
}

// TestJobIsInterrupted has the infrastructure end the pod of a check. Another Job runs the script, and its result counts.
func TestJobIsInterrupted(t *testing.T) {
	cases := map[string]struct {
		reason string
		pod    func(*corev1.Pod)
		after  func(w *world)
		end    func(w *world)
		named  string
		want   string
	}{
		"Drained": {
			reason: "A drained node says nothing about the revision.", pod: drainPod, after: func(*world) {}, named: "Evicted",
			end: func(w *world) { w.end(batchv1.JobComplete, "", 0, "") }, want: "Passed/Passed/Passed",
		},
		"Gone": {
			reason: "A pod that is gone, although its Job is not, was deleted.", after: func(*world) {}, named: "PodDeleted",
			end: func(w *world) { w.end(batchv1.JobComplete, "", 0, "") }, want: "Passed/Passed/Passed",
		},
		"Restarted": {
			reason: "The status names the second Job after a restart.", pod: drainPod, after: func(w *world) { w.restart() }, named: "Evicted",
			end: func(w *world) { w.end(batchv1.JobComplete, "", 0, "") }, want: "Passed/Passed/Passed",
		},
		"Violated": {
			reason: "A second script that finds a violation rejects the revision.", pod: drainPod, after: func(*world) {}, named: "Evicted",
			end: func(w *world) { w.end(batchv1.JobFailed, "PodFailurePolicy", 3, "2 of 7") }, want: "Failed/Failed/Failed",
		},
		"Broken": {
			reason: "A second script with an error of its own ends the check.", pod: drainPod, after: func(*world) {}, named: "Evicted",
			end: func(w *world) { w.end(batchv1.JobFailed, "BackoffLimitExceeded", 127, "curl: not found") }, want: "Error/Error/Error",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(nil))
			now := time.Now()
			w.c.now = func() time.Time { return now }
			w.reconcile()
			first := w.made()[0].GetName()
			w.endWithPod(batchv1.JobFailed, "BackoffLimitExceeded", tc.pod)
			message := "the infrastructure ended the pod of the check (" + tc.named + "): another Job runs the script"
			w.when(message, func() bool { return w.get().Status.AtProvider.Checks[0].Message == message })
			if n := len(w.made()); n != 1 {
				t.Fatalf("%s\nThe provider waits before it creates another Job: got %d Jobs", tc.reason, n)
			}
			now = now.Add(time.Minute)
			w.when("a second Job", func() bool { return len(w.made()) == 2 })
			tc.after(w)
			w.reconcile()
			if diff := cmp.Diff(first+"-1", w.get().Status.AtProvider.Checks[0].JobRef.Name); diff != "" {
				t.Errorf("%s\njobRef: -want, +got:\n%s", tc.reason, diff)
			}
			tc.end(w)
			w.judged()
			if diff := cmp.Diff(tc.want, w.state()); diff != "" || len(w.made()) != 2 {
				t.Errorf("%s\n%d Jobs, state: -want, +got:\n%s", tc.reason, len(w.made()), diff)
			}
		})
	}
}

// removeJobs deletes the Jobs of checks, as a user of the cluster may.
func (w *world) removeJobs() {
	w.Helper()
	for _, j := range w.made() {
		w.must(w.cluster.Resource(jobResource()).Namespace("checks").Delete(w.Context(), j.GetName(), metav1.DeleteOptions{}))
	}
}

// TestJobIsRemoved has a user delete the Jobs of a check. Other Jobs run the script until the time of the check is over.
func TestJobIsRemoved(t *testing.T) {
	cases := map[string]struct {
		reason   string
		removals int
		after    func(w *world)
		job      string
	}{
		"Once":  {reason: "A removed Job says nothing about the revision.", removals: 1, after: func(*world) {}, job: "-1"},
		"Twice": {reason: "A second removed Job says nothing either.", removals: 2, after: func(*world) {}, job: "-2"},
		"Restarted": {
			reason: "The status names the removed Job after a restart.", removals: 1, after: func(w *world) { w.restart(); w.reconcile() }, job: "-1",
		},
		"Always": {reason: "A check does not wait for ever for a user who removes each of its Jobs.", removals: 3, after: func(*world) {}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(nil))
			now := time.Now()
			w.c.now = func() time.Time { return now }
			w.reconcile()
			first := w.made()[0].GetName()
			for range tc.removals {
				w.removeJobs()
				tc.after(w)
				now = now.Add(grace + 2*time.Second)
				w.when("another Job or a verdict", func() bool { return len(w.made()) == 1 || w.get().Status.AtProvider.Verdict != "" })
			}
			want, message := "TimedOut/TimedOut/TimedOut", job.MessageRemoved
			if tc.job != "" {
				if diff := cmp.Diff(first+tc.job, w.made()[0].GetName()); diff != "" {
					t.Errorf("%s\nJob: -want, +got:\n%s", tc.reason, diff)
				}
				w.end(batchv1.JobComplete, "", 0, "")
				want, message = "Passed/Passed/Passed", ""
			}
			w.judged()
			if diff := cmp.Diff(want+" "+message, w.state()+" "+w.get().Status.AtProvider.Checks[0].Message); diff != "" {
				t.Errorf("%s\nstate and message: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestJobOnSilentNode has a node stop to answer while the script runs: its Job fails, and waits for the end of a pod that does not end.
func TestJobOnSilentNode(t *testing.T) {
	w := newWorld(t, script(nil))
	now := time.Now()
	w.c.now = func() time.Time { return now }
	w.reconcile()
	w.endWithPod(batchv1.JobFailureTarget, "DeadlineExceeded", func(p *corev1.Pod) {
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionFalse},
		}}
	})
	message := "the infrastructure ended the pod of the check (NodeLost): another Job runs the script"
	w.when(message, func() bool { return w.get().Status.AtProvider.Checks[0].Message == message })
	now = now.Add(time.Minute)
	w.when("a second Job", func() bool { return len(w.made()) == 2 })
	w.end(batchv1.JobComplete, "", 0, "")
	w.until("Passed/Passed/Passed")
}

// replace the Job by another Job, as any user of the cluster may do who makes Jobs there.
func (w *world) replace(uid types.UID, change func(j *unstructured.Unstructured)) {
	w.Helper()
	j := w.made()[0]
	w.must(w.cluster.Resource(jobResource()).Namespace("checks").Delete(w.Context(), j.GetName(), metav1.DeleteOptions{}))
	j.SetResourceVersion("")
	j.SetUID(uid)
	change(&j)
	_, err := w.cluster.Resource(jobResource()).Namespace("checks").Create(w.Context(), &j, metav1.CreateOptions{})
	w.must(err)
}

// restart the provider: its memory is lost, and clusters are listed again.
func (w *world) restart() {
	w.c.memory = newNoteMemory()
	w.c.pool.Forget(gateKey())
}

// forgetJob removes the Job from the status, as if the provider had ended before the write.
func (w *world) forgetJob() {
	w.Helper()
	g := w.get()
	g.Status.AtProvider.Checks[0].JobRef = nil
	w.must(w.kube.Status().Update(w.Context(), g))
}

// podSpec returns the spec of the pods of a Job.
func podSpec(j *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedFieldNoCopy(j.Object, "spec", "template", "spec")
	return spec.(map[string]any)
}

func TestForgedJob(t *testing.T) {
	lies := func(j *unstructured.Unstructured) {
		podSpec(j)["containers"].([]any)[0].(map[string]any)["args"] = []any{"true # exit 3"}
	}
	misleads := func(j *unstructured.Unstructured) {
		podSpec(j)["hostAliases"] = []any{map[string]any{"ip": "192.0.2.1", "hostnames": []any{"web"}}}
	}
	cases := map[string]struct {
		reason string
		forge  func(w *world)
		want   string
	}{
		"Script": {
			reason: "A Job that runs another script does not count while the UID of the provider's own is unknown.",
			forge:  func(w *world) { w.replace("forged", lies); w.restart(); w.forgetJob() },
			want:   "the cluster has another Job of this name, which differs in spec.template.spec.containers[0].args",
		},
		"Host": {
			reason: "A Job that gives a host name another address does not count while the UID of the provider's own is unknown.",
			forge:  func(w *world) { w.replace("forged", misleads); w.restart(); w.forgetJob() },
			want:   "the cluster has another Job of this name, which differs in spec.template.spec.hostAliases",
		},
		"Replaced": {
			reason: "A Job with an equal spec does not count in place of the provider's Job.",
			forge:  func(w *world) { w.replace("forged", func(*unstructured.Unstructured) {}) },
			want:   "the Job was replaced: the cluster has another Job of this name, with UID forged",
		},
		"ReplacedThenRestarted": {
			reason: "The status says after a restart which Job the provider created.",
			forge:  func(w *world) { w.replace("forged", func(*unstructured.Unstructured) {}); w.restart() },
			want:   "the Job was replaced: the cluster has another Job of this name, with UID forged",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(nil))
			w.reconcile()
			tc.forge(w)
			w.end(batchv1.JobComplete, "", 0, "all is well")
			w.judged()
			if diff := cmp.Diff(tc.want, w.get().Status.AtProvider.Checks[0].Message); diff != "" {
				t.Errorf("%s\nmessage: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLongUID has a cluster give a Job a UID that no status can have. The check ends, and the Gate has a status.
func TestLongUID(t *testing.T) {
	long := strings.Repeat("x", 65)
	cases := map[string]struct {
		reason string
		begin  func(w *world)
	}{
		"Created": {reason: "The cluster may give the UID to the Job that the provider creates.", begin: func(w *world) {
			w.cluster.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
				a.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured).SetUID(types.UID(long))
				return false, nil, nil
			})
			w.reconcile()
		}},
		"Replaced": {reason: "The cluster may give the UID to another Job of the name.", begin: func(w *world) {
			w.reconcile()
			w.replace(types.UID(long), func(*unstructured.Unstructured) {})
			w.restart()
			w.forgetJob()
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(nil))
			tc.begin(w)
			w.end(batchv1.JobComplete, "", 0, "all is well")
			w.judged()
			r := w.get().Status.AtProvider.Checks[0]
			if want := "the cluster gives the Job a UID that is too long"; r.Message != want {
				t.Errorf("\n%s\nmessage: want %q, got %q", tc.reason, want, r.Message)
			}
			if r.JobRef != nil && len(r.JobRef.UID) > 64 {
				t.Errorf("\n%s\nThe status names no such UID: jobRef: got %d characters", tc.reason, len(r.JobRef.UID))
			}
		})
	}
}

// TestJobIsKnownByUID has a webhook of the cluster change the Job that the provider created. The provider knows it after a restart all the same.
func TestJobIsKnownByUID(t *testing.T) {
	w := newWorld(t, script(nil))
	w.cluster.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
		podSpec(a.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured))["tolerations"] = []any{map[string]any{"operator": "Exists"}}
		return false, nil, nil
	})
	w.reconcile()
	want := &v1alpha1.CheckJobReference{Name: w.made()[0].GetName(), UID: string(w.made()[0].GetUID())}
	if diff := cmp.Diff(want, w.get().Status.AtProvider.Checks[0].JobRef); diff != "" {
		t.Fatalf("The status names the Job in the same reconcile that created it.\njobRef: -want, +got:\n%s", diff)
	}
	w.restart()
	w.end(batchv1.JobComplete, "", 0, "")
	w.judged()
	if diff := cmp.Diff("Passed/Passed/Passed", w.state()); diff != "" {
		t.Errorf("A Job that a webhook changed is known by its UID.\nstate: -want, +got:\n%s\n%s", diff, w.get().Status.AtProvider.Checks[0].Message)
	}
}

// loseAnswers makes the cluster change each Job that is created, as a webhook does, and lose the answer with the change.
func (w *world) loseAnswers() {
	w.cluster.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
		o := a.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured)
		if o.GetUID() == "" {
			o.SetUID(types.UID(o.GetName() + "-uid"))
		}
		nonce := o.GetAnnotations()[job.AnnotationNonce]
		checks := w.get().Status.AtProvider.Checks
		if len(checks) != 1 || checks[0].JobRef == nil || checks[0].JobRef.NonceDigest != job.NonceDigest(nonce) || nonce == "" {
			w.Errorf("The digest of the nonce is in the status before the Job is created.\nchecks: got %+v", checks)
		}
		podSpec(o)["tolerations"] = []any{map[string]any{"operator": "Exists"}}
		if err := w.cluster.Tracker().Create(jobResource(), o, "checks"); err != nil {
			return true, nil, err
		}
		return true, nil, errors.New("connection reset by peer")
	})
}

// TestJobIsKnownByNonce loses the answer to the request that created a Job, which a webhook of the cluster changed.
func TestJobIsKnownByNonce(t *testing.T) {
	rewrites := func(nonce func(oldNonce string) string) func(w *world) {
		return func(w *world) {
			w.restart()
			w.replace("forged", func(j *unstructured.Unstructured) {
				j.SetAnnotations(map[string]string{job.AnnotationNonce: nonce(j.GetAnnotations()[job.AnnotationNonce])})
			})
		}
	}
	const foreign = "the cluster has another Job of this name, which differs in spec.template.spec.tolerations"
	cases := map[string]struct {
		reason string
		before func(w *world)
		state  string
		want   string
	}{
		"Same":      {reason: "A Job is known by its nonce while its UID is unknown.", before: func(*world) {}, state: "Passed/Passed/Passed"},
		"Restarted": {reason: "A Job is known by its nonce after a restart.", before: func(w *world) { w.restart() }, state: "Passed/Passed/Passed"},
		"NoNonce": {
			reason: "A Job without a nonce is compared with the spec of the check.",
			before: rewrites(func(string) string { return "" }), state: "Error/Error/Error", want: foreign,
		},
		"OtherNonce": {
			reason: "A Job with another nonce is compared with the spec of the check.", before: rewrites(func(oldNonce string) string { return oldNonce + "2" }),
			state: "Error/Error/Error", want: foreign,
		},
		"Digest": {
			reason: "A reader of the status does not know the nonce.", before: rewrites(job.NonceDigest), state: "Error/Error/Error", want: foreign,
		},
		"ReplacedLater": {
			reason: "A Job with the nonce does not count once the UID of the provider's own is known.",
			before: func(w *world) {
				w.when("the UID of the Job", func() bool { return w.get().Status.AtProvider.Checks[0].JobRef.UID != "" })
				w.replace("forged", func(*unstructured.Unstructured) {})
			},
			state: "Error/Error/Error", want: "the Job was replaced: the cluster has another Job of this name, with UID forged",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(nil))
			w.loseAnswers()
			w.reconcile()
			if r := w.get().Status.AtProvider.Checks[0].JobRef; len(w.made()) != 1 || r == nil || r.UID != "" {
				t.Fatalf("The UID of a Job is unknown while the answer is lost.\njobRef: got %+v, and %d Jobs", r, len(w.made()))
			}
			w.cluster.ReactionChain = w.cluster.ReactionChain[1:]
			tc.before(w)
			w.end(batchv1.JobComplete, "", 0, "")
			w.judged()
			r := w.get().Status.AtProvider.Checks[0]
			if diff := cmp.Diff(tc.state, w.state()); diff != "" {
				t.Errorf("%s\nstate: -want, +got:\n%s\n%s", tc.reason, diff, r.Message)
			}
			if diff := cmp.Diff(tc.want, r.Message); diff != "" {
				t.Errorf("%s\nmessage: -want, +got:\n%s", tc.reason, diff)
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
			reason:  "A Job is created with the kubeconfig of the Secret that the Site names.",
			cluster: catalogv1alpha1.SiteCluster{KubeconfigSecretRef: kubeconfig("k")},
			secret:  held("admin", "edge1", "k"), want: []string{" of edge1"},
		},
		"Default": {
			reason: "The key of the Secret defaults to that of Cluster API.", cluster: catalogv1alpha1.SiteCluster{KubeconfigSecretRef: kubeconfig("")},
			secret: held("admin", "edge1", "value"), want: []string{" of edge1"},
		},
		"Cluster": {
			reason: "The Secret of a Cluster counts as written by a tenant.", cluster: inCluster("c1"),
			secret: held("team-a", "c1-kubeconfig", "value"), want: []string{"team-a of c1-kubeconfig"},
		},
		"NotYet": {reason: "A Cluster without a kubeconfig gets no Job yet.", cluster: inCluster("c2"), secret: held("team-a", "c1-kubeconfig", "value")},
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

// pinned takes the script from a ConfigMap.
func pinned(name, text string) func(*deploymentv1alpha1.JobCheck) {
	sum := sha256.Sum256([]byte(text))
	return func(j *deploymentv1alpha1.JobCheck) {
		j.Script, j.ConfigMapKeyRef = "", &deploymentv1alpha1.ConfigMapKeySelector{Name: name, Key: "run", SHA256: hex.EncodeToString(sum[:])}
	}
}

// scripts that Jobs are pinned to.
func scripts(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "scripts"}, Data: map[string]string{"run": text}}
}

// change the Site.
func (w *world) change(do func(s *catalogv1alpha1.Site)) {
	w.Helper()
	s := w.site()
	do(s)
	w.must(w.kube.Update(w.Context(), s))
}

// TestJobWaits has an obstacle for a Job. It may go away until the check's time is over, and is the message then.
func TestJobWaits(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*deploymentv1alpha1.JobCheck)
		spoil  func(w *world)
		repair func(w *world)
		want   string
	}{
		"Image": {
			reason: "A Job waits until the Site allows its image.", change: func(j *deploymentv1alpha1.JobCheck) { j.Image = "busybox:2" }, want: "job: image: ",
			repair: func(w *world) {
				w.change(func(s *catalogv1alpha1.Site) { s.Spec.PostCheck.AllowedImages = []string{"busybox:2"} })
			},
		},
		"Account": {
			reason: "A Job waits until the Site allows its service account.",
			change: func(j *deploymentv1alpha1.JobCheck) { j.ServiceAccountName = "admin" }, want: "job: serviceAccountName: ",
			repair: func(w *world) {
				w.change(func(s *catalogv1alpha1.Site) { s.Spec.PostCheck.ServiceAccountName = "admin" })
			},
		},
		"Nowhere": {
			reason: "A Job waits until the Site has a namespace for checks.", want: "job: the Site has no spec.postCheck",
			spoil:  func(w *world) { w.change(func(s *catalogv1alpha1.Site) { s.Spec.PostCheck = nil }) },
			repair: func(w *world) { w.change(func(s *catalogv1alpha1.Site) { s.Spec.PostCheck = site("").Spec.PostCheck }) },
		},
		"Changed": {
			reason: "A Job waits until its script has the digest that the check names.", change: pinned("scripts", "exit 1"), want: "configMapKeyRef.sha256: ",
			repair: func(w *world) { w.must(w.kube.Update(w.Context(), scripts("exit 1"))) },
		},
		"NoScript": {
			reason: "A Job waits until the ConfigMap of its script exists.", change: pinned("scripts", "curl -sf http://shop"), want: "configMapKeyRef: ",
			spoil:  func(w *world) { w.must(w.kube.Delete(w.Context(), scripts(""))) },
			repair: func(w *world) { w.must(w.kube.Create(w.Context(), scripts("curl -sf http://shop"))) },
		},
		"NoConfig": {
			reason: "A Job waits until its configuration exists.", want: "the configuration does not exist",
			spoil:  func(w *world) { w.must(w.kube.Delete(w.Context(), settings(""))) },
			repair: func(w *world) { w.must(w.kube.Create(w.Context(), settings(""))) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, mended := range []bool{true, false} {
				w := newWorld(t, script(tc.change))
				now := time.Now()
				w.c.now = func() time.Time { return now }
				w.must(w.kube.Create(t.Context(), scripts("curl -sf http://shop")))
				if tc.spoil != nil {
					tc.spoil(w)
				}
				w.reconcile()
				if got := w.state(); got != "Measuring//Running" || len(w.made()) > 0 {
					t.Fatalf("%s\nit waits: %s, with %d Jobs", tc.reason, got, len(w.made()))
				}
				if mended {
					tc.repair(w)
				}
				now = now.Add(time.Minute)
				w.reconcile()
				if mended != (len(w.made()) == 1) {
					t.Errorf("%s\nmended: %t, and %d Jobs", tc.reason, mended, len(w.made()))
				}
				now = now.Add(time.Minute) // The check has one Job, and the cluster another Job.
				w.reconcile()
				got := w.get().Status.AtProvider.Checks[0]
				if !mended && (got.Phase != v1alpha1.CheckTimedOut || !strings.HasPrefix(got.Message, tc.want)) {
					t.Errorf("%s\nat the end: want TimedOut, %q, got %s, %q", tc.reason, tc.want, got.Phase, got.Message)
				}
			}
		})
	}
}

// TestJobThatRuns has a running Job. A change of its ConfigMap, Secret or policy applies to the next Job.
func TestJobThatRuns(t *testing.T) {
	w := newWorld(t, script(pinned("scripts", "curl -sf http://shop")))
	w.must(w.kube.Create(t.Context(), scripts("curl -sf http://shop")))
	w.reconcile()
	w.must(w.kube.Update(t.Context(), scripts("exit 1")))
	w.must(w.kube.Delete(t.Context(), settings("")))
	s := w.site()
	s.Spec.PostCheck.AllowedImages = nil
	w.must(w.kube.Update(t.Context(), s))
	w.reconcile()
	if got := w.state(); got != "Measuring//Running" {
		t.Fatalf("while it runs: %s", got)
	}
	w.end(batchv1.JobComplete, "", 0, "")
	w.until("Passed/Passed/Passed")
}

// TestJobIsRefused has a cluster that refuses the Job until the check's time is over. The status reports the obstacle, and no Job is
// created after the verdict.
func TestJobIsRefused(t *testing.T) {
	w := newWorld(t, script(nil))
	refuses := true
	w.cluster.PrependReactor("create", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		return refuses, nil, kerrors.NewForbidden(jobResource().GroupResource(), "j", nil)
	})
	now := time.Now()
	w.c.now = func() time.Time { return now }
	w.reconcile()
	now, refuses = now.Add(2*time.Minute), false
	w.reconcile()
	if got := w.state(); got != "TimedOut/TimedOut/TimedOut" {
		t.Fatalf("when its time is over: %s", got)
	}
	if got := w.get().Status.AtProvider.Checks[0].Message; !strings.Contains(got, "the cluster rejected the object") {
		t.Errorf("why there was no Job: %q", got)
	}
	if n := len(w.made()); n > 0 {
		t.Errorf("%d Jobs are made after the verdict", n)
	}
}

// TestJobInUnreachableCluster has a cluster that cannot be asked for longer than the check may take. The check goes on once it can.
func TestJobInUnreachableCluster(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
	}{
		"Silent":  {reason: "A cluster that does not answer gives no verdict.", err: errors.New("connection refused")},
		"Expired": {reason: "Credentials that the cluster does not accept any more give no verdict.", err: kerrors.NewUnauthorized("the token has expired")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(nil))
			down := &atomic.Bool{}
			down.Store(true)
			w.cluster.PrependReactor("list", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
				return down.Load(), nil, tc.err
			})
			now := time.Now()
			w.c.now = func() time.Time { return now }
			w.reconcile()
			now = now.Add(5 * time.Minute)
			w.reconcile()
			if got := w.state(); got != "Measuring//Running" {
				t.Fatalf("%s\nstate: got %s", tc.reason, got)
			}
			down.Store(false)
			w.when("a Job", func() bool { return len(w.made()) == 1 })
			w.end(batchv1.JobComplete, "", 0, "")
			w.until("Passed/Passed/Passed")
		})
	}
}

// TestJobWithoutKubeconfig has a Site whose Secret with the kubeconfig is replaced by another one, for longer than the check may take.
func TestJobWithoutKubeconfig(t *testing.T) {
	w := newWorld(t, script(nil))
	w.change(func(s *catalogv1alpha1.Site) { s.Spec.Cluster = inCluster("c1") })
	now := time.Now()
	w.c.now = func() time.Time { return now }
	w.reconcile()
	now = now.Add(5 * time.Minute)
	w.reconcile()
	if got := w.state(); got != "Measuring//Running" {
		t.Fatalf("A Secret that is missing for a while gives no verdict.\nstate: got %s", got)
	}
	if got := w.get().Status.AtProvider.Checks[0].Message; !strings.Contains(got, "the Secret with the kubeconfig, or its key, does not exist") {
		t.Errorf("why the check waits: %q", got)
	}
	w.must(w.kube.Create(t.Context(), held("team-a", "c1-kubeconfig", "value")))
	w.when("a Job", func() bool { return len(w.made()) == 1 })
	w.end(batchv1.JobComplete, "", 0, "")
	w.until("Passed/Passed/Passed")
}

// TestPodsOfJobDuringOutage has a Job that failed, and a cluster that does not list its pods for longer than the check may take: without the pods it is unknown
// whether the script failed, or a node ended its pod.
func TestPodsOfJobDuringOutage(t *testing.T) {
	w := newWorld(t, script(nil))
	w.cluster.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	now := time.Now()
	w.c.now = func() time.Time { return now }
	w.when("a Job", func() bool { return len(w.made()) == 1 })
	w.end(batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 1, "")
	w.when("the end of the Job", func() bool { return w.get().Status.AtProvider.Checks[0].Message != "" })
	for range 3 {
		now = now.Add(5 * time.Minute)
		w.reconcile()
	}
	if got := w.state(); got != "Measuring//Running" {
		t.Errorf("An outage of the cluster gives no verdict on a Job whose pods are unknown.\nstate: got %s", got)
	}
}

func TestJobThatNeverStarts(t *testing.T) {
	w := newWorld(t, script(nil))
	now := time.Now()
	w.c.now = func() time.Time { return now }
	w.reconcile()
	<-w.woken                      // The watch saw the Job.
	now = now.Add(2 * time.Minute) // The check has one Job, and the cluster another Job.
	w.reconcile()
	if got := w.state(); got != "TimedOut/TimedOut/TimedOut" {
		t.Errorf("nothing runs Jobs: %s", got)
	}
}
