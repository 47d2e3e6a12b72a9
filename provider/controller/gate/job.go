package gate

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/endpoint"
	"github.com/intentplane/intentplane/provider/gates/job"
	"github.com/intentplane/intentplane/provider/gates/verdict"
)

// grace is how long a cluster may take to report the result of a Job after its deadline.
const grace = time.Minute

// clusterRetry is the time until the provider reads a Job of an unreachable cluster again.
const clusterRetry = 10 * time.Second

// A jobRequest is a Job that is to be made.
type jobRequest struct {
	// check and site are the check and the Site of the Job.
	check, site string
	cluster     *clusters.Cluster
	job         *batchv1.Job
}

func jobResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
}

func podResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}
}

// jobKind is the kind of checks which run a script in the Site's cluster.
func jobKind() kind {
	return kind{
		name:  "Job",
		isSet: func(c *v1alpha1.GateCheck) bool { return c.Job != nil },
		allow: func(site *catalogv1alpha1.Site, _ endpoint.Config, c v1alpha1.GateCheck) error {
			return policy.CheckJob(site, c.Job)
		},
		run: func(ctx context.Context, e *external, s subject, last v1alpha1.CheckResult, into *verdict.CheckFacts) error {
			into.Job = last.JobRef.DeepCopy()
			return e.gatherJobFacts(ctx, s.reconcileCache, s.check, s.site, into)
		},
	}
}

// gatherJobFacts judges a check that runs as a Job, and requests the Job if there is none. An obstacle may be removed until the check's time is
// over. It returns an error if the control plane's API server cannot be asked.
func (e *external) gatherJobFacts(ctx context.Context, r *reconcileCache, c v1alpha1.GateCheck, site *catalogv1alpha1.Site, into *verdict.CheckFacts) error {
	rules, err := gates.RulesOf(c.Check)
	if err != nil {
		into.Impossible = err.Error()
		return nil //nolint:nilerr // It is the check's problem.
	}
	in := job.Input{Gate: string(r.gate.GetUID()), Check: c, Site: site, LiveSince: into.LiveSince, Rules: rules}
	if into.Job != nil {
		in.Attempt = job.AttemptOf(in, into.Job.Name)
	}
	into.Judgement = gates.Judgement{Phase: v1alpha1.CheckRunning}
	if into.Next = into.LiveSince.Add(rules.InitialDelay); e.now().Before(into.Next) {
		into.Job = e.recordedJob(job.Name(in), into.Job)
		return nil
	}
	return e.gatherAttempt(ctx, r, in, into)
}

// gatherAttempt judges one Job of a check, and requests the Job if there is none.
func (e *external) gatherAttempt(ctx context.Context, r *reconcileCache, in job.Input, into *verdict.CheckFacts) error {
	into.Job = e.recordedJob(job.Name(in), into.Job)
	into.Judgement = gates.Judgement{Phase: v1alpha1.CheckRunning}
	if in.Attempt > 0 {
		into.Judgement.Availability, into.Judgement.Message = gates.Interrupted, job.MessageRepeated
	}
	into.Next = e.jobReportDeadline(in)
	requested := len(e.jobRequests)
	trouble, err := e.observeJob(ctx, r, in, into)
	switch {
	case err != nil || into.Judgement.Ended():
		return err
	case !into.RetryAt.IsZero():
		return e.createNextJob(ctx, r, in, into)
	case e.now().Before(e.jobReportDeadline(in)):
		return nil
	}
	if len(e.jobRequests) > requested { // It comes too late for a Job.
		e.jobRequests = e.jobRequests[:requested]
		trouble = e.memory.findOrAddJobNote(job.Name(in), e.now()).refused
	}
	into.Judgement = gates.Judgement{Phase: v1alpha1.CheckTimedOut, Message: textOrDefault(trouble, "nothing runs Jobs in the cluster")}
	return nil
}

// jobReportDeadline returns until when a Job may report its result. The time begins when the provider first thinks of the Job.
func (e *external) jobReportDeadline(in job.Input) time.Time {
	return e.memory.findOrAddJobNote(job.Name(in), e.now()).seen.Add(in.Rules.Timeout + grace)
}

// createNextJob creates the next Job of a check after a delay: a pod that the infrastructure ended proves nothing about the revision. The status names the
// last Job until it names the next one.
func (e *external) createNextJob(ctx context.Context, r *reconcileCache, in job.Input, into *verdict.CheckFacts) error {
	last := into.Job
	if into.Next = into.RetryAt; e.now().Before(into.RetryAt) {
		return nil
	}
	into.RetryAt = time.Time{}
	in.Attempt++
	err := e.gatherAttempt(ctx, r, in, into)
	if into.Job == nil {
		into.Job = last
	}
	return err
}

// recordedJob returns the Job of a name that the provider created, or tried to, as this process remembers it or else as the status says. Nil if neither
// does: the status may be about a Job of an earlier time in which the subject was live.
func (e *external) recordedJob(name string, last *v1alpha1.CheckJobReference) *v1alpha1.CheckJobReference {
	if note := e.memory.findOrAddJobNote(name, e.now()); note.uid != "" {
		return &v1alpha1.CheckJobReference{Name: name, UID: string(note.uid)}
	}
	if last != nil && last.Name == name {
		return last
	}
	return nil
}

func textOrDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// observeJob observes the Job. It returns the obstacle, and an error if the control plane's API server cannot be asked.
func (e *external) observeJob(ctx context.Context, r *reconcileCache, in job.Input, into *verdict.CheckFacts) (string, error) {
	if in.Site.Spec.PostCheck == nil {
		return e.requestJob(ctx, r, in, nil)
	}
	cluster, err := e.connectCluster(ctx, in.Site)
	var unread *clusters.Error
	switch {
	case errors.As(err, &unread):
		return e.waitForCluster(in, unread, into), nil
	case err != nil:
		return "", err
	}
	name := job.Name(in)
	o, err := cluster.Only(ctx, engines.Ref{Resource: jobResource(), Namespace: in.Site.Spec.PostCheck.Namespace, Name: name})
	if err != nil {
		return e.waitForCluster(in, err, into), nil
	}
	note := e.memory.findOrAddJobNote(name, e.now())
	createdAt := note.made
	if createdAt.IsZero() && into.Job != nil && into.Job.UID != "" {
		createdAt = note.seen // A process before this one created it.
	}
	switch {
	case o == nil && !createdAt.IsZero() && e.now().Sub(createdAt) > grace:
		e.repeatRemovedJob(in, into)
	case o == nil && !createdAt.IsZero(): // The watch has not seen it yet.
		into.Next = createdAt.Add(grace + time.Second)
	case o == nil:
		return e.requestJob(ctx, r, in, cluster)
	default:
		return e.judgeOwnJob(ctx, cluster, in, o, into)
	}
	return "", nil
}

// repeatRemovedJob creates another Job for the script of a removed Job: the removal proves nothing about the revision. Further Jobs begin until the
// timeout of the check has passed, plus a grace period to detect a removal, since a user may remove each of them.
func (e *external) repeatRemovedJob(in job.Input, into *verdict.CheckFacts) {
	until := e.memory.findOrAddJobNote(job.Name(in), e.now()).repeatUntil
	if until.IsZero() {
		until = e.jobReportDeadline(in).Add(grace)
	}
	if !e.now().Before(until) {
		into.Judgement = gates.Judgement{Phase: v1alpha1.CheckTimedOut, Message: job.MessageRemoved}
		return
	}
	in.Attempt++
	e.memory.limitRepeats(job.Name(in), until, e.now())
	into.RetryAt = e.now()
}

// waitForCluster restarts the timeout of a Job while its cluster is unreachable: an outage is not a verdict. It returns the obstacle.
func (e *external) waitForCluster(in job.Input, err error, into *verdict.CheckFacts) string {
	var unread *clusters.Error
	if errors.As(err, &unread) && isClusterOutage(unread) {
		e.memory.restartJobTimeout(job.Name(in), e.now())
		into.Next = e.now().Add(clusterRetry)
		into.Judgement.Availability, into.Judgement.Message = gates.Interrupted, "the check waits for the cluster of its Job: "+unread.Detail
	}
	return err.Error()
}

// isClusterOutage reports whether a cluster cannot be asked: it does not answer, or the provider has no credentials that the cluster accepts, as after their end. A
// missing right is none: it stays until a user grants it.
func isClusterOutage(e *clusters.Error) bool {
	return slices.Contains([]string{
		deliveryv1alpha1.SiteReasonClusterUnreachable, deliveryv1alpha1.SiteReasonKubeconfigDenied, deliveryv1alpha1.SiteReasonKubeconfigGone,
		deliveryv1alpha1.SiteReasonKubeconfigRefused,
	}, e.Reason)
}

// judgeOwnJob judges the Job that the provider created, and knows its UID from then on. It refuses another Job: any other user of the cluster
// may create a Job of that name with any result. It returns the obstacle to a judgement.
func (e *external) judgeOwnJob(ctx context.Context, cluster *clusters.Cluster, in job.Input, o *unstructured.Unstructured, into *verdict.CheckFacts) (string, error) {
	j := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, j); err != nil {
		return "", errors.Wrap(err, "cannot read Job")
	}
	if into.Impossible = job.RefuseForeign(in, into.Job, o, j); into.Impossible != "" {
		return "", nil
	}
	into.Job = &v1alpha1.CheckJobReference{Name: j.GetName(), UID: string(j.GetUID())}
	judgement, err := e.judgeJob(ctx, cluster, j)
	switch {
	case err != nil:
		return e.waitForCluster(in, err, into), nil
	case judgement.Availability == gates.Interrupted:
		into.RetryAt = job.RetryAt(j, in.Attempt)
	case !judgement.Ended():
		return "", nil
	}
	into.Judgement = judgement
	return "", nil
}

// requestJob has Update create a Job. The configuration and the script are read only now: later changes do not concern this Job. It returns
// why it may not be made.
func (e *external) requestJob(ctx context.Context, r *reconcileCache, in job.Input, cluster *clusters.Cluster) (string, error) {
	config, err := e.configOfCheck(ctx, r, in.Check)
	if err != nil {
		return "", err
	}
	if problem := deniedCheck(config, in.Site, in.Check); problem != "" {
		return problem, nil
	}
	script, problem, err := e.readScript(ctx, r.gate.GetNamespace(), in.Check)
	if err != nil || problem != "" {
		return problem, err
	}
	in.Script = script
	e.jobRequests = append(e.jobRequests, jobRequest{check: in.Check.Name, site: in.Check.Site, cluster: cluster, job: job.Make(in)})
	return "", nil
}

// judgeJob judges a Job. It returns an error if the pods of a failed Job cannot be read at present: without them the end of a pod by the infrastructure looks
// like an error of the script. Without the right to list pods the Job alone counts.
func (e *external) judgeJob(ctx context.Context, cluster *clusters.Cluster, j *batchv1.Job) (gates.Judgement, error) {
	out := job.Judge(j, nil)
	if !out.Ended() && !job.IsEnding(j) {
		return out, nil
	}
	// The Job has the result, and its pods have the output.
	err := cluster.VisitFew(ctx, podResource(), j.GetNamespace(), batchv1.ControllerUidLabel+"="+string(j.GetUID()), func(found []unstructured.Unstructured) {
		out = job.Judge(j, podsMadeForJob(j, found))
	})
	var refused *clusters.Error
	if errors.As(err, &refused) && isClusterOutage(refused) && out.Phase != v1alpha1.CheckPassed {
		return out, refused
	}
	return out, nil
}

// podsMadeForJob returns the pods that the controller of Jobs made for a Job: any user who may make pods there can give them its labels.
func podsMadeForJob(j *batchv1.Job, found []unstructured.Unstructured) []corev1.Pod {
	pods := []corev1.Pod{}
	for _, f := range found {
		p := corev1.Pod{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(f.Object, &p) == nil && metav1.IsControlledBy(&p, j) {
			pods = append(pods, p)
		}
	}
	return pods
}

// readScript returns the script of a check. It returns why the script cannot be run, and an error if the API server cannot be asked.
func (e *external) readScript(ctx context.Context, namespace string, c v1alpha1.GateCheck) (string, string, error) {
	ref := c.Job.ConfigMapKeyRef
	if ref == nil {
		return c.Job.Script, "", nil
	}
	m := &corev1.ConfigMap{}
	err := e.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, m)
	if client.IgnoreNotFound(err) != nil {
		return "", "", errors.Wrapf(err, "cannot get ConfigMap %q", ref.Name)
	}
	text, ok := m.Data[ref.Key]
	if kerrors.IsNotFound(err) || !ok {
		return "", "configMapKeyRef: the ConfigMap, or its key, does not exist", nil
	}
	if err := job.CheckPinned(text, ref.SHA256); err != nil {
		return "", err.Error(), nil //nolint:nilerr // It is the check's problem.
	}
	return text, "", nil
}

// connectCluster returns the cluster that the Site's workloads run in. It returns a clusters.Error if there is none, or none that can be asked, and another
// error if the control plane's API server cannot be asked.
func (e *external) connectCluster(ctx context.Context, site *catalogv1alpha1.Site) (*clusters.Cluster, error) {
	if ref, _ := clusters.KubeconfigOf(site); ref == nil && site.Spec.Cluster.ControlPlane == nil {
		return nil, &clusters.Error{Detail: "the Site names no cluster"}
	}
	return setup.ConnectSite(ctx, e.kube, e.look, site)
}

// createJobs creates the Jobs that were requested, and records them in the status of the Gate. A failed creation is repeated until the
// check's time is over. It returns an error if one of them cannot be made.
func (e *external) createJobs(ctx context.Context, g *v1alpha1.Gate) error {
	if err := e.announceJobs(ctx, g); err != nil {
		return err
	}
	var failed []error
	for _, w := range e.jobRequests {
		job.SetNonce(w.job, e.memory.nonceOfJob(w.job.GetName()))
		o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.job)
		if err != nil {
			return errors.Wrap(err, "cannot encode Job")
		}
		uid, err := w.cluster.Make(ctx, jobResource(), &unstructured.Unstructured{Object: o})
		if err != nil {
			e.memory.recordRefused(w.job.GetName(), err.Error())
			failed = append(failed, errors.Wrap(err, "cannot make Job of a check"))
			continue
		}
		uid = job.UsableUID(uid)
		e.memory.recordCreated(w.job.GetName(), uid, e.now())
		if uid != "" {
			recordJobReference(g, w, v1alpha1.CheckJobReference{Name: w.job.GetName(), UID: string(uid)})
		}
	}
	return errors.Join(failed...)
}

// announceJobs writes the digests of the Jobs' nonces into the status before a Job is created. The answer of the cluster, which has the UID,
// may be lost, and a webhook may have changed the Job: the provider recognizes the Job by its nonce, also after a restart.
func (e *external) announceJobs(ctx context.Context, g *v1alpha1.Gate) error {
	changed := false
	for _, w := range e.jobRequests {
		digest := job.NonceDigest(e.memory.nonceOfJob(w.job.GetName()))
		changed = recordJobReference(g, w, v1alpha1.CheckJobReference{Name: w.job.GetName(), NonceDigest: digest}) || changed
	}
	if !changed {
		return nil
	}
	return errors.Wrap(e.kube.Status().Update(ctx, g), "cannot record the Jobs that are about to be created")
}

// recordJobReference writes the reference by which a restarted provider recognizes a Job into the status. It returns whether the reference is new.
func recordJobReference(g *v1alpha1.Gate, w jobRequest, ref v1alpha1.CheckJobReference) bool {
	for i := range g.Status.AtProvider.Checks {
		c := &g.Status.AtProvider.Checks[i]
		if c.Name != w.check || c.Site != w.site {
			continue
		}
		previous := c.JobRef
		c.JobRef = &ref
		return previous == nil || *previous != ref
	}
	return false
}
