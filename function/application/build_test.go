package application

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
)

const (
	firstCommit  = "1111111111111111111111111111111111111111"
	secondCommit = "2222222222222222222222222222222222222222"

	// buildNeed asks for an ImageBuild of the Application's name.
	buildNeed = "ImageBuild/team-a/shop"
)

// newSourceWorld has an Application that is built of a branch, and deployed at edge1.
func newSourceWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.in.APIGroup, w.in.Spec.Image = v1alpha1.GroupNamespaced, ""
	w.in.Spec.Source = &buildv1alpha1.Source{Git: &buildv1alpha1.GitSource{URL: "https://git.example.org/team-a/shop.git", Revision: "main"}}
	w.in.Answers[buildNeed] = []json.RawMessage{}
	return w
}

// builds observes the ImageBuild, with a function that adds to its report.
func (w *world) builds(ready xpv2.ConditionReason, report func(*buildv1alpha1.ImageBuildObservation)) {
	w.Helper()
	b := &buildv1alpha1.ImageBuild{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.out.Resources[BuildName].Object.Object, b); err != nil {
		w.Fatal(err)
	}
	sum, err := digest.BuildRequest(&b.Spec.ForProvider)
	if err != nil {
		w.Fatal(err)
	}
	observation := &b.Status.AtProvider
	observation.Wanted.Request = sum
	report(observation)
	raw, err := json.Marshal(observation)
	if err != nil {
		w.Fatal(err)
	}
	w.observe(BuildName, fmt.Sprintf(`{atProvider: %s, conditions: [{type: Ready, status: "False", reason: %s, observedGeneration: 1, message: "%s"}]}`, raw, ready, "says why"))
}

// imageOf reports the wanted image, at a commit.
func imageOf(commit, image string) func(*buildv1alpha1.ImageBuildObservation) {
	return func(o *buildv1alpha1.ImageBuildObservation) {
		o.Wanted.Commit = commit
		o.Latest = &buildv1alpha1.BuiltImage{Request: o.Wanted.Request, Commit: commit, Build: "shop-build-1", Image: image, Reason: "STACK"}
	}
}

func atCommit(commit string) func(*buildv1alpha1.ImageBuildObservation) {
	return func(o *buildv1alpha1.ImageBuildObservation) { o.Wanted.Commit = commit }
}

// runs brings a source to an image that runs.
func (w *world) runs(image string) {
	w.Helper()
	w.run()
	w.builds("Built", imageOf(firstCommit, image))
	w.run()
	w.deployed()
	w.run()
	w.serving(image)
	w.run()
	if w.in.Status.Phase != v1alpha1.PhaseRunning || w.in.Status.Commit != firstCommit {
		w.Fatalf("an image that was built and serves: %+v", w.in.Status)
	}
}

func (w *world) deploymentImage() string {
	w.Helper()
	image, _, _ := unstructuredString(w.out.Resources[DeploymentName].Object.Object, "spec", "expectation", "image")
	return image
}

func unstructuredString(o map[string]any, path ...string) (text string, found bool, err error) {
	var value any = o
	for _, p := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return "", false, nil
		}
		value = m[p]
	}
	text, found = value.(string)
	return text, found, nil
}

// TestSourceLife goes from a commit to an image that runs, and on to the next commit.
func TestSourceLife(t *testing.T) {
	w := newSourceWorld(t)
	w.run()
	if len(w.out.Resources) != 1 || w.out.Resources[BuildName].Object == nil || w.in.Status.Phase != v1alpha1.PhaseBuilding {
		t.Fatalf("first call: %+v, %d resources", w.in.Status, len(w.out.Resources))
	}
	w.builds("Building", atCommit(firstCommit))
	w.run()
	if w.in.Status.Phase != v1alpha1.PhaseBuilding || len(w.out.Resources) != 1 || w.in.Status.Build.State != "Building" || w.in.Status.Source.Commit != firstCommit {
		t.Fatalf("while it is built: %+v", w.in.Status)
	}
	w.runs(newImage)
	w.builds("Building", func(o *buildv1alpha1.ImageBuildObservation) {
		imageOf(firstCommit, newImage)(o)
		o.Wanted.Commit = secondCommit
	})
	w.run()
	if w.in.Status.Phase != v1alpha1.PhaseBuilding || w.deploymentImage() != newImage || w.in.Status.Commit != firstCommit || w.condition(v1alpha1.TypeAvailable).Reason != v1alpha1.ReasonEarlierImage {
		t.Fatalf("the next commit is built while the image before it serves: %+v", w.in.Status)
	}
	w.builds("Built", imageOf(secondCommit, oldImage))
	w.run()
	if w.in.Status.Phase != v1alpha1.PhasePending || w.deploymentImage() != oldImage || w.in.Status.Commit != secondCommit {
		t.Fatalf("its image is handed over: %+v", w.in.Status)
	}
}

// TestEarlierOutcome has a request that follows on a commit whose deployment came to its end: the outcome of that is none of the request.
func TestEarlierOutcome(t *testing.T) {
	next := func(ready xpv2.ConditionReason, commit string) func(*world) {
		return func(w *world) {
			w.builds(ready, func(o *buildv1alpha1.ImageBuildObservation) {
				imageOf(firstCommit, newImage)(o)
				o.Wanted.Commit = commit
			})
		}
	}
	cases := map[string]struct {
		reason  string
		request func(*world)
		phase   v1alpha1.Phase
	}{
		"Building":    {reason: "A commit that is being built has no outcome.", request: next("Building", secondCommit), phase: v1alpha1.PhaseBuilding},
		"Queued":      {reason: "A commit that waits to be built has no outcome.", request: next("Queued", secondCommit), phase: v1alpha1.PhaseBuilding},
		"BuildFailed": {reason: "A commit whose build failed was not deployed.", request: next("BuildFailed", secondCommit), phase: v1alpha1.PhaseFailed},
		"NoBuilder":   {reason: "A commit that waits for its builder has no outcome.", request: next("BuilderNotReady", secondCommit), phase: v1alpha1.PhasePending},
		"NoBranch":    {reason: "A branch that was deleted has no outcome.", request: next("RevisionNotFound", ""), phase: v1alpha1.PhasePending},
		"Denied":      {reason: "A source that the configuration refuses was not deployed.", request: next("PolicyDenied", ""), phase: v1alpha1.PhaseFailed},
		"Edited": {
			reason:  "An edit that is built first has no outcome.",
			request: func(w *world) { w.in.Spec.Source.Git.SubPath = "api" }, phase: v1alpha1.PhaseBuilding,
		},
		"Invalid": {
			reason:  "A spec that cannot be carried out was not deployed.",
			request: func(w *world) { w.in.Spec.Image = oldImage }, phase: v1alpha1.PhaseFailed,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, outcome := range []deploymentv1alpha1.Outcome{deploymentv1alpha1.OutcomeRolledBack, deploymentv1alpha1.OutcomeFailed, deploymentv1alpha1.OutcomeSucceeded} {
				w := newSourceWorld(t)
				w.runs(newImage)
				w.observe(DeploymentName, fmt.Sprintf(`{phase: Succeeded, outcome: %s, revision: 1, intentDigest: %q, delivery: {sites: {edge1: {}}}}`, outcome, w.desiredDigest()))
				w.run()
				if got := w.in.Status.Deployment.Outcome; got != string(outcome) {
					t.Fatalf("The outcome of the commit that was deployed is %s, got %q", outcome, got)
				}
				tc.request(w)
				w.run()
				if got := w.in.Status; got.Deployment.Outcome != "" || got.Phase != tc.phase || got.IsRolledBack() {
					t.Errorf("\n%s\nRun(...) after %s: want %s without an outcome, got %s with %q: %s", tc.reason, outcome, tc.phase, got.Phase, got.Deployment.Outcome, got.Message)
				}
			}
		})
	}
}

// TestSameDigest has a commit of which the same image is built: nothing is delivered.
func TestSameDigest(t *testing.T) {
	w := newSourceWorld(t)
	w.runs(newImage)
	previous := w.desiredDigest()
	w.builds("Built", imageOf(secondCommit, newImage))
	w.run()
	if w.desiredDigest() != previous || w.in.Status.Commit != secondCommit || w.in.Status.Phase != v1alpha1.PhaseRunning {
		t.Errorf("%+v", w.in.Status)
	}
}

func TestBuildTrouble(t *testing.T) {
	cases := map[string]struct {
		reason string
		ready  xpv2.ConditionReason
		report func(*buildv1alpha1.ImageBuildObservation)
		phase  v1alpha1.Phase
		state  BuildState
		valid  string
	}{
		"Failed": {
			reason: "A build that failed fails the Application.",
			ready:  "BuildFailed", report: atCommit(secondCommit), phase: "Failed", state: BuildFailed, valid: "Valid",
		},
		"Disrupted": {
			reason: "A build that no node carried out fails the Application, too.",
			ready:  "BuildDisrupted", report: atCommit(secondCommit), phase: "Failed", state: BuildFailed, valid: "Valid",
		},
		"Queued": {
			reason: "A build that waits for another one is building.",
			ready:  "Queued", report: atCommit(secondCommit), phase: "Building", state: BuildWaiting, valid: "Valid",
		},
		"Retrying": {
			reason: "A build that is tried again has not failed.",
			ready:  "Retrying", report: atCommit(secondCommit), phase: "Building", state: BuildRunning, valid: "Valid",
		},
		"PodPending": {
			reason: "A build whose pod does not begin is building.",
			ready:  "PodPending", report: atCommit(secondCommit), phase: "Building", state: BuildRunning, valid: "Valid",
		},
		"NoBranch": {
			reason: "A branch that does not exist is waited for.",
			ready:  "RevisionNotFound", report: atCommit(""), phase: "Pending", state: BuildWaiting, valid: "Valid",
		},
		"Builder": {
			reason: "A builder that is not ready is not a failed build.",
			ready:  "BuilderNotReady", report: atCommit(secondCommit), phase: "Pending", state: BuildWaiting, valid: "Valid",
		},
		"Kpack": {
			reason: "An Application waits for kpack to be installed.",
			ready:  "KpackMissing", report: atCommit(""), phase: "Pending", state: BuildWaiting, valid: "Valid",
		},
		"Denied": {
			reason: "A build that the configuration does not allow is refused.",
			ready:  "PolicyDenied", report: atCommit(""), phase: "Failed", state: BuildWaiting, valid: "PolicyDenied",
		},
		"Other": {
			reason: "A status about another request proves nothing.", ready: "Built", phase: "Building", state: BuildUnknown, valid: "Valid",
			report: func(o *buildv1alpha1.ImageBuildObservation) {
				o.Wanted.Request = "other"
				imageOf(secondCommit, oldImage)(o)
			},
		},
		"OldCommit": {
			reason: "The image of another commit does not count as the wanted image.", ready: "Queued", phase: "Building", state: BuildWaiting, valid: "Valid",
			report: func(o *buildv1alpha1.ImageBuildObservation) {
				imageOf(firstCommit, oldImage)(o)
				o.Wanted.Commit = secondCommit
			},
		},
		"Rebuild": {
			reason: "A later build of the same commit that failed fails nothing.", ready: "Built", phase: "Running", state: BuildFailed, valid: "Valid",
			report: func(o *buildv1alpha1.ImageBuildObservation) {
				imageOf(firstCommit, newImage)(o)
				o.Failed = &buildv1alpha1.FailedBuild{Request: o.Wanted.Request, Commit: firstCommit, Build: "shop-build-2", Reason: "StepFailed"}
			},
		},
		"Unreachable": {
			reason: "A repository that is down changes nothing that runs.", ready: "Built", phase: "Running", state: BuildSucceeded, valid: "Valid",
			report: func(o *buildv1alpha1.ImageBuildObservation) {
				imageOf(firstCommit, newImage)(o)
				o.SourceTrouble = buildv1alpha1.SourceTrouble{Reason: "SourceUnreachable", Message: "cannot read the repository: connection refused"}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.runs(newImage)
			w.builds(tc.ready, tc.report)
			w.run()
			s := w.in.Status
			if diff := cmp.Diff([]string{string(tc.phase), string(tc.state), tc.valid}, []string{string(s.Phase), s.Build.State, w.condition(v1alpha1.TypeValid).Reason}); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s\n%s", tc.reason, diff, s.Message)
			}
			if w.deploymentImage() != newImage || s.Available != "1/1" {
				t.Errorf("\n%s\nThe running image is not changed: %s, %+v", tc.reason, w.deploymentImage(), s)
			}
		})
	}
}

// TestUpdates has an image that was built again of the commit that runs, and then the image of the next commit, which is delivered however updates are.
func TestUpdates(t *testing.T) {
	_, approved, _ := strings.Cut(oldImage, "@")
	cases := map[string]struct {
		reason string
		how    v1alpha1.Build
		want   string
		waits  string
	}{
		"Automatic": {reason: "A rebuilt image is delivered by itself.", how: v1alpha1.Build{}, want: oldImage},
		"Manual":    {reason: "A rebuilt image waits for its approval.", how: v1alpha1.Build{Updates: v1alpha1.UpdatesManual}, want: newImage, waits: oldImage},
		"Approved": {
			reason: "The rebuilt image that is approved is delivered.",
			how:    v1alpha1.Build{Updates: v1alpha1.UpdatesManual, Approved: approved}, want: oldImage,
		},
		"WithSource": {
			reason: "A rebuilt image is left to the next commit.",
			how:    v1alpha1.Build{Updates: v1alpha1.UpdatesWithSource}, want: newImage, waits: oldImage,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.in.Spec.Build = &tc.how
			w.runs(newImage)
			w.builds("Built", imageOf(firstCommit, oldImage))
			w.run()
			if w.deploymentImage() != tc.want || w.in.Status.Build.Waiting.Image != tc.waits {
				t.Errorf("\n%s\n%s: %+v", tc.reason, w.deploymentImage(), w.in.Status.Build)
			}
			if tc.waits != "" && w.in.Status.Phase != v1alpha1.PhaseRunning {
				t.Errorf("\n%s\nThe Application runs: %+v", tc.reason, w.in.Status)
			}
			next := strings.ReplaceAll(oldImage, approved, "sha256:"+strings.Repeat("7", 64))
			w.builds("Built", imageOf(secondCommit, next))
			w.run()
			if s := w.in.Status; w.deploymentImage() != next || s.Commit != secondCommit || s.Build.Waiting.Image != "" {
				t.Errorf("\nThe image of the next commit is delivered, and none waits any more.\n%s: %+v", w.deploymentImage(), s.Build)
			}
		})
	}
}

// TestLostBuild has an ImageBuild that was lost, and made again without its status.
func TestLostBuild(t *testing.T) {
	w := newSourceWorld(t)
	w.runs(newImage)
	w.builds("Queued", atCommit(firstCommit))
	w.run()
	if w.deploymentImage() != newImage || w.in.Status.Phase != v1alpha1.PhaseRunning {
		t.Errorf("The image of the wanted commit runs: %+v", w.in.Status)
	}
	delete(w.in.Observed, BuildName)
	w.run()
	if w.deploymentImage() != newImage || w.out.Resources[BuildName].Object == nil {
		t.Errorf("The running image stays while its ImageBuild is lost: %+v", w.in.Status)
	}
}

// TestOldCondition has a reason that is about an earlier generation.
func TestOldCondition(t *testing.T) {
	w := newSourceWorld(t)
	w.run()
	w.builds("BuildFailed", atCommit(firstCommit))
	w.in.Observed[BuildName].SetGeneration(2)
	w.run()
	if w.in.Status.Phase != v1alpha1.PhaseBuilding || w.in.Status.Build.State != "Unknown" {
		t.Errorf("%+v", w.in.Status)
	}
}

// TestBuildConfig has the configuration that says how an image is built.
func TestBuildConfig(t *testing.T) {
	w := newSourceWorld(t)
	w.in.Spec.Deploy.DeliveryConfig.GitOpsRepo = deploymentv1alpha1.ConfigReference{Kind: "ProviderConfig", Name: "own"}
	w.run()
	ref, _, _ := unstructuredString(w.out.Resources[BuildName].Object.Object, "spec", "providerConfigRef", "name")
	kind, _, _ := unstructuredString(w.out.Resources[BuildName].Object.Object, "spec", "providerConfigRef", "kind")
	if ref != "default" || kind != "ClusterProviderConfig" {
		t.Errorf("A configuration of the namespace does not say how images are built: %s %s", kind, ref)
	}
}

// TestFailureIsNamed has a build that failed because of its node: while it is tried again, and once no retry is left.
func TestFailureIsNamed(t *testing.T) {
	cases := map[string]struct {
		reason  string
		ready   xpv2.ConditionReason
		message string
		build   string
		built   string
	}{
		"Retrying": {
			reason: "The message names the failure while the provider retries the build, and the reason says that it does.", ready: "Retrying",
			build: "Retrying", built: v1alpha1.ReasonBuilding,
			message: "Commit 22222222 is built again after a failure: Evicted. low on resource.",
		},
		"Spent": {
			reason: "A build that no node carried out is not blamed on its author.", ready: "BuildDisrupted", build: "Evicted", built: v1alpha1.ReasonBuildDisrupted,
			message: "The build of commit 22222222 failed: Evicted. low on resource. Repair the nodes, or the object that the message names; " +
				"then set another spec.source.trigger to build it again.",
		},
		"OfSource": {
			reason: "A build whose step failed is its author's.", ready: "BuildFailed", build: "Evicted", built: v1alpha1.ReasonBuildFailed,
			message: "The build of commit 22222222 failed: Evicted. low on resource. Push a commit that builds, or set another " +
				"spec.source.trigger to build this one again.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.run()
			w.builds(tc.ready, func(o *buildv1alpha1.ImageBuildObservation) {
				atCommit(secondCommit)(o)
				o.Failed = &buildv1alpha1.FailedBuild{Request: o.Wanted.Request, Commit: secondCommit, Build: "shop-build-1", Reason: "Evicted", Message: "low on resource", Attempts: 1}
			})
			w.run()
			s := w.in.Status
			if diff := cmp.Diff([]string{tc.message, tc.build, tc.built}, []string{s.Message, s.Build.Reason, w.condition(v1alpha1.TypeBuilt).Reason}); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
