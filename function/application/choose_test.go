package application

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// desiredSpec returns the spec that the IntentDeployment should have.
func (w *world) desiredSpec() deploymentv1alpha1.IntentDeploymentSpec {
	w.Helper()
	d, err := decodeComposed(w.out.Resources[DeploymentName].Object)
	if err != nil {
		w.Fatal(err)
	}
	return d.Spec
}

// TestEdits has edits while a build is under way.
func TestEdits(t *testing.T) {
	env := []deploymentv1alpha1.EnvVar{{Name: "A", Value: "1"}}
	cases := map[string]struct {
		reason string
		edit   func(*v1alpha1.ApplicationSpec)
		commit string
		env    bool
	}{
		"BranchMoved": {reason: "If only the branch moved, other edits go out.", edit: func(*v1alpha1.ApplicationSpec) {}, commit: secondCommit, env: true},
		"Source": {
			reason: "If the source was edited, the rest of the edit waits for its build.",
			edit:   func(s *v1alpha1.ApplicationSpec) { s.Source.Git.Revision = "next" }, commit: secondCommit,
		},
		"Trigger": {
			reason: "If the same commit is to be built again, the rest of the edit waits.",
			edit:   func(s *v1alpha1.ApplicationSpec) { s.Source.Trigger = "2" }, commit: firstCommit,
		},
		"Interval": {
			reason: "How often the repository is looked at makes no other image.",
			edit:   func(s *v1alpha1.ApplicationSpec) { s.Source.Interval = "1m" }, commit: secondCommit, env: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.runs(newImage)
			tc.edit(&w.in.Spec)
			w.in.Spec.Env, w.in.Spec.Deploy.Suspend, w.in.Spec.Deploy.DeliveryConfig.SyncWaitTimeout = env, new(true), "3m"
			w.run()
			w.builds("Queued", atCommit(tc.commit))
			w.run()
			got := w.desiredSpec()
			if hasRuntime := got.Expectation.Runtime != nil; hasRuntime != tc.env || got.Expectation.Image != newImage {
				t.Errorf("\n%s\n%+v", tc.reason, got.Expectation)
			}
			if got.Suspend == nil || !*got.Suspend || got.DeliveryConfig.SyncWaitTimeout != "3m" {
				t.Errorf("\n%s\nFields that belong to no image are passed on: %+v", tc.reason, got)
			}
			w.builds("Built", imageOf(tc.commit, oldImage))
			w.run()
			if got := w.desiredSpec(); got.Expectation.Runtime == nil || got.Expectation.Image != oldImage {
				t.Errorf("\n%s\nThe edit goes out with its image: %+v", tc.reason, got.Expectation)
			}
		})
	}
}

// TestEditsThatWaitForNoBuild edits the source, and with it all that belongs to no image: that goes through at once, with the image in force.
func TestEditsThatWaitForNoBuild(t *testing.T) {
	w := newSourceWorld(t)
	w.runs(newImage)
	want := w.desiredSpec()
	want.Suspend, want.RollbackConfig.AutoRollback = new(true), new(false)
	want.DeliveryConfig.DeliveryTimeout, want.DeliveryConfig.SyncWaitTimeout, want.DeliveryConfig.ClusterWaitTimeout = "2m", "3m", "4m"
	want.DeliveryConfig.DeletionPolicy, want.DeliveryConfig.DriftPolicy, want.DeliveryConfig.Adopt = "Orphan", "Report", new(true)
	want.Blueprint.UpdatePolicy = "Manual"
	deploy := &w.in.Spec.Deploy
	deploy.Suspend, deploy.RollbackConfig, deploy.DeliveryConfig, deploy.Blueprint.UpdatePolicy = want.Suspend, want.RollbackConfig, want.DeliveryConfig, "Manual"
	deploy.Sites, deploy.ProgressTimeout = append(deploy.Sites, "edge2"), "5m"
	want.GatesConfig.Checks = []deploymentv1alpha1.Check{progressCheck("5m")}
	w.in.Spec.Source.Git.Revision, w.in.Spec.Replicas = "next", new(deploymentv1alpha1.Replicas(5))
	w.run()
	w.builds("Building", atCommit(secondCommit))
	w.run()
	if diff := cmp.Diff(want, w.desiredSpec()); diff != "" {
		t.Errorf("The Sites and the replicas wait for the build, and the rest does not: -want, +got:\n%s", diff)
	}
}

// TestCanaryPolicyWhileBuilding edits the source, and with it the end of a canary's steps.
func TestCanaryPolicyWhileBuilding(t *testing.T) {
	type canary = deploymentv1alpha1.CanaryConfig
	steps := []deploymentv1alpha1.CanaryStep{{Weight: new(int32(20))}}
	full := func(c canary) *canary {
		c.Enabled, c.Scale = new(true), "Weight"
		return &c
	}
	present := full(canary{Steps: steps, Drain: "5m", OnInconclusive: "Reject"})
	cases := map[string]struct {
		reason              string
		present, edit, want *canary
	}{
		"Policy": {
			reason:  "Drain and onInconclusive take effect while the build runs, and the steps of the next image wait for it.",
			present: present, edit: full(canary{Drain: "10s", OnInconclusive: "Hold"}), want: full(canary{Steps: steps, Drain: "10s", OnInconclusive: "Hold"}),
		},
		"Begins": {reason: "The image in force gets no canary.", edit: full(canary{Steps: steps, Drain: "10s", OnInconclusive: "Hold"})},
		"Ends":   {reason: "The canary of the image in force goes on as it began.", present: present, want: present},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.in.Spec.Deploy.DeliveryConfig.Canary = tc.present
			w.runs(newImage)
			w.in.Spec.Deploy.DeliveryConfig.Canary = tc.edit
			w.in.Spec.Source.Git.Revision = "next"
			w.run()
			w.builds("Building", atCommit(secondCommit))
			w.run()
			if diff := cmp.Diff(tc.want, w.desiredSpec().DeliveryConfig.Canary); diff != "" {
				t.Errorf("\n%s\ncanary of the deployment: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEditsAfterFailure edits how an image is judged, after it failed and while the next image is built.
func TestEditsAfterFailure(t *testing.T) {
	const rolledBack, reverting = "phase: Succeeded, outcome: RolledBack, rollback: {active: false}", "phase: RollingBack, rollback: {active: true}"
	moves := func(w *world) { w.builds("Building", atCommit(secondCommit)) }
	edits := func(w *world) {
		w.in.Spec.Source.Git.Revision = "next"
		w.run()
		moves(w)
	}
	cases := map[string]struct {
		reason, status string
		request        func(*world)
		wantChecks     []deploymentv1alpha1.Check
	}{
		"RolledBack":  {reason: "Changed rules deliver no image again that was rolled back.", status: rolledBack, request: edits},
		"Outcome":     {reason: "The outcome alone shows that the image was rolled back.", status: "phase: Succeeded, outcome: RolledBack", request: edits},
		"Failed":      {reason: "Changed rules deliver no image again whose deployment failed.", status: "phase: Failed, outcome: Failed", request: edits},
		"RollingBack": {reason: "Changed rules deliver no image again while it is rolled back.", status: reverting, request: edits},
		"Pending": {
			reason: "A deployment that waits for a Site has a rejected image all the same.",
			status: "phase: Pending, rollback: {active: false}", request: edits,
		},
		"BranchRolledBack": {reason: "The image of a commit that follows a rejected image is awaited, too.", status: rolledBack, request: moves},
		"BranchReverting":  {reason: "The image of a commit that follows during the rollback is awaited, too.", status: reverting, request: moves},
		"Delivering": {
			reason: "Changed rules judge an image that was not rejected.", status: "phase: Validating", request: edits,
			wantChecks: []deploymentv1alpha1.Check{progressCheck("5m")},
		},
		"BranchInvalid": {
			reason: "An edit that corrects a spec goes out if only the branch moved.", status: "phase: Failed, outcome: Failed", request: moves,
			wantChecks: []deploymentv1alpha1.Check{progressCheck("5m")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.runs(newImage)
			want := w.desiredSpec()
			w.observe(DeploymentName, `{`+tc.status+`, revision: 2, intentDigest: "`+w.desiredDigest()+`", delivery: {sites: {edge1: {}}}}`)
			w.run()
			deploy := &w.in.Spec.Deploy
			deploy.ProgressTimeout, deploy.Suspend, deploy.RollbackConfig.AutoRollback, deploy.DeliveryConfig.DeliveryTimeout = "5m", new(true), new(false), "2m"
			want.GatesConfig.Checks = tc.wantChecks
			want.Suspend, want.RollbackConfig.AutoRollback, want.DeliveryConfig.DeliveryTimeout = new(true), new(false), "2m"
			tc.request(w)
			w.run()
			if diff := cmp.Diff(want, w.desiredSpec()); diff != "" {
				t.Errorf("\n%s\nRun(...): spec while the next image is built: -want, +got:\n%s", tc.reason, diff)
			}
			w.builds("Built", imageOf(secondCommit, oldImage))
			w.run()
			if got := w.desiredSpec(); got.Expectation.Image != oldImage || len(got.GatesConfig.Checks) != 1 {
				t.Errorf("\n%s\nThe rules go out with the next image: image %s, %d checks", tc.reason, got.Expectation.Image, len(got.GatesConfig.Checks))
			}
		})
	}
}

// TestResumeWithSource suspends a deployment and edits how it is judged. Then one edit ends that, changes the rules again, and asks for another image.
func TestResumeWithSource(t *testing.T) {
	const running, heldBack = "phase: Succeeded, outcome: Succeeded, revision: 1, heldBack: false", "phase: Succeeded, outcome: Succeeded, revision: 1, heldBack: true"
	source := func(s *v1alpha1.ApplicationSpec) { s.Source.Git.Revision = "next" }
	cases := map[string]struct {
		reason, status string
		isStale        bool
		edit           func(*v1alpha1.ApplicationSpec)
		want           bool
	}{
		"Rules": {reason: "The image before is not judged by rules that were held back, nor delivered again for them.", status: heldBack, edit: source, want: true},
		"Trigger": {
			reason: "If the same commit is to be built again, the edit that was held back waits, too.",
			status: heldBack, edit: func(s *v1alpha1.ApplicationSpec) { s.Source.Trigger = "2" }, want: true,
		},
		"Build": {reason: "If the build changes, the edit that was held back waits for its image.", status: heldBack, edit: func(s *v1alpha1.ApplicationSpec) {
			s.Build = &v1alpha1.Build{Settings: buildv1alpha1.Settings{Env: []buildv1alpha1.Variable{{Name: "A", Value: "1"}}}}
		}, want: true},
		"Canary": {
			reason: "A canary that is suspended with another edit stays where it is.",
			status: "phase: Validating, revision: 2, heldBack: true", edit: source, want: true,
		},
		"Rejected": {
			reason: "No edit that was held back delivers a rejected image again.",
			status: "phase: Succeeded, outcome: RolledBack, heldBack: true, rollback: {active: false}", edit: source, want: true,
		},
		"Unknown":   {reason: "A deployment whose status speaks of an earlier spec may hold an edit back.", status: running, isStale: true, edit: source, want: true},
		"NoneHeld":  {reason: "A deployment that holds no edit back goes on at once.", status: running, edit: source},
		"NotLonger": {reason: "A rollout goes on at once if nothing else was held back.", status: "phase: Validating, revision: 2", edit: source},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.runs(newImage)
			w.in.Spec.Deploy.Suspend, w.in.Spec.Deploy.ProgressTimeout = new(true), "5m"
			w.in.Spec.Deploy.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"errors": "< 1%"}
			w.run()
			intentDigest := w.desiredDigest()
			if tc.isStale {
				intentDigest = "earlier"
			}
			w.observe(DeploymentName, `{`+tc.status+`, intentDigest: "`+intentDigest+`", delivery: {sites: {edge1: {}}}}`)
			w.run()
			w.in.Spec.Deploy.Suspend, w.in.Spec.Deploy.ProgressTimeout, w.in.Spec.Deploy.GatesConfig = new(false), "7m", deploymentv1alpha1.GatesConfig{}
			tc.edit(&w.in.Spec)
			w.run()
			w.builds("Building", atCommit(secondCommit))
			w.run()
			if got := w.desiredSpec(); *got.Suspend != tc.want || got.Expectation.Image != newImage {
				t.Errorf("\n%s\nRun(...): want suspend %t while the next image is built, got %t, image %s", tc.reason, tc.want, *got.Suspend, got.Expectation.Image)
			}
			w.builds("Built", imageOf(secondCommit, oldImage))
			w.run()
			want := deploymentv1alpha1.GatesConfig{Checks: []deploymentv1alpha1.Check{progressCheck("7m")}}
			want.Default()
			got := w.desiredSpec()
			if diff := cmp.Diff(want, got.GatesConfig); diff != "" || *got.Suspend || got.Expectation.Image != oldImage {
				t.Errorf("\n%s\nRun(...): the rules of the current spec, with its image: -want, +got:\n%s\nsuspend %t, image %s", tc.reason, diff, *got.Suspend, got.Expectation.Image)
			}
		})
	}
}

// TestImageToSource goes from an image that the spec names to a source, and back.
func TestImageToSource(t *testing.T) {
	w := newSourceWorld(t)
	source := w.in.Spec.Source
	w.in.Spec.Source, w.in.Spec.Image = nil, oldImage
	w.run()
	w.deployed()
	w.run()
	w.serving(oldImage)
	w.run()
	w.in.Spec.Source, w.in.Spec.Image = source, ""
	w.run()
	if w.deploymentImage() != oldImage || w.out.Resources[BuildName].Object == nil || w.in.Status.Phase != v1alpha1.PhaseBuilding {
		t.Fatalf("The image before runs until the source has one: %+v", w.in.Status)
	}
	w.builds("Built", imageOf(firstCommit, newImage))
	w.run()
	if diff := cmp.Diff(map[string]string{
		buildv1alpha1.AnnotationRequest: w.out.Resources[DeploymentName].Object.GetAnnotations()[buildv1alpha1.AnnotationRequest],
		buildv1alpha1.AnnotationCommit:  firstCommit, buildv1alpha1.AnnotationBuild: "shop-build-1",
	}, w.out.Resources[DeploymentName].Object.GetAnnotations()); diff != "" || w.deploymentImage() != newImage {
		t.Fatalf("The deployment names the inputs of its image: -want, +got:\n%s", diff)
	}
	w.deployed()
	w.in.Spec.Source, w.in.Spec.Build, w.in.Spec.Image = nil, nil, oldImage
	w.run()
	if w.deploymentImage() != oldImage || w.out.Resources[BuildName].Object == nil {
		t.Fatalf("The ImageBuild stays until the deployment asks for the image: %+v", w.in.Status)
	}
	w.deployed()
	w.run()
	if w.out.Resources[BuildName].Object != nil {
		t.Errorf("The ImageBuild goes once the deployment asks for the image")
	}
}

func TestSourceProblem(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.ApplicationSpec)
	}{
		"Both":    {reason: "An image and a source exclude each other.", change: func(s *v1alpha1.ApplicationSpec) { s.Image = newImage }},
		"Neither": {reason: "An image or a source has to be there.", change: func(s *v1alpha1.ApplicationSpec) { s.Source = nil }},
		"Build": {
			reason: "How something is built needs a source.",
			change: func(s *v1alpha1.ApplicationSpec) { s.Source, s.Image, s.Build = nil, newImage, &v1alpha1.Build{} },
		},
		"Sources": {reason: "A source is either in Git or an archive.", change: func(s *v1alpha1.ApplicationSpec) { s.Source.Blob = &buildv1alpha1.BlobSource{} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			tc.change(&w.in.Spec)
			w.run()
			if got := w.condition(v1alpha1.TypeValid); got.Reason != v1alpha1.ReasonInvalidSpec || len(w.out.Resources) != 0 {
				t.Errorf("\n%s\n%v, %d resources", tc.reason, got, len(w.out.Resources))
			}
		})
	}
}
