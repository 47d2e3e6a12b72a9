package application

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// forgedImage is an image that no Build made.
const forgedImage = "registry.example.org/team-b/forged:1"

// forges has an editor write another image to the observed deployment, with annotations about its build.
func (w *world) forges(request, commit string) {
	w.Helper()
	d := w.in.Observed[DeploymentName]
	if err := unstructured.SetNestedField(d.Object, forgedImage, "spec", "expectation", "image"); err != nil {
		w.Fatal(err)
	}
	d.SetAnnotations(annotationsFor(v1alpha1.BuiltImage{Request: request, Commit: commit, Build: "shop-build-9"}))
}

// TestForgedImage has a deployment whose image, or whose annotations, an editor wrote, or that an editor deleted. Rebuilt images wait for an approval.
func TestForgedImage(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world, request string)
	}{
		"Rebuilt": {reason: "A written image replaces neither the image of its commit, nor the approval of a rebuilt image.", change: func(w *world, request string) {
			w.builds("Built", imageOf(firstCommit, oldImage))
			w.forges(request, firstCommit)
		}},
		"NextCommit": {reason: "A written image is no image of a commit that is being built.", change: func(w *world, request string) {
			w.builds("Building", atCommit(secondCommit))
			w.forges(request, secondCommit)
		}},
		"Edited": {reason: "An edit of the source is built while the recorded image stays.", change: func(w *world, _ string) {
			w.in.Spec.Source.Git.Revision = "next"
			w.run()
			w.builds("Building", atCommit(secondCommit))
			request, _, _ := unstructuredString(w.in.Observed[BuildName].Object, "status", "atProvider", "wanted", "request")
			w.forges(request, secondCommit)
		}},
		"BuildLost": {reason: "A written image does not stay after the ImageBuild was lost.", change: func(w *world, request string) {
			delete(w.in.Observed, BuildName)
			w.forges(request, firstCommit)
		}},
		"Refused": {reason: "A refused spec leaves the recorded image in force.", change: func(w *world, request string) {
			w.forges(request, firstCommit)
			tooManyReplicas(&w.in.Spec)
		}},
		"Deleted": {reason: "A lost deployment is made again with the recorded image.", change: func(w *world, _ string) {
			w.builds("Built", imageOf(firstCommit, oldImage))
			delete(w.in.Observed, DeploymentName)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.in.Spec.Build = &v1alpha1.Build{Updates: v1alpha1.UpdatesManual}
			w.runs(newImage)
			tc.change(w, w.in.Status.BuiltImage.Request)
			w.run()
			s := w.in.Status
			if diff := cmp.Diff([]string{newImage, newImage, firstCommit}, []string{w.deploymentImage(), s.Image, s.Commit}); diff != "" {
				t.Errorf("\n%s\nRun(...): image of the deployment, image and commit of the status: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLostRecord has an Application whose status was lost, as after a restore, while its deployment and its ImageBuild are there.
func TestLostRecord(t *testing.T) {
	_, digestOfOld, _ := strings.Cut(oldImage, "@")
	manual, approved := v1alpha1.Build{Updates: v1alpha1.UpdatesManual}, v1alpha1.Build{Updates: v1alpha1.UpdatesManual, Approved: digestOfOld}
	held := []string{newImage, "", oldImage, v1alpha1.ReasonWaiting}
	delivered := []string{oldImage, firstCommit, "", v1alpha1.ReasonBuilt}
	cases := map[string]struct {
		reason        string
		build         v1alpha1.Build
		commit, image string
		isForged      bool
		want          []string
	}{
		"Same": {
			reason: "The image of the ImageBuild is recorded again.", build: manual, commit: firstCommit, image: newImage,
			want: []string{newImage, firstCommit, "", v1alpha1.ReasonBuilt},
		},
		"Manual": {reason: "A rebuilt image waits for its approval.", build: manual, commit: firstCommit, image: oldImage, want: held},
		"WithSource": {
			reason: "A rebuilt image waits for the next commit.", build: v1alpha1.Build{Updates: v1alpha1.UpdatesWithSource},
			commit: firstCommit, image: oldImage, want: held,
		},
		"Approved":  {reason: "An approved image is delivered.", build: approved, commit: firstCommit, image: oldImage, want: delivered},
		"Automatic": {reason: "A rebuilt image is delivered without an approval.", commit: firstCommit, image: oldImage, want: delivered},
		"NextCommit": {
			reason: "The image of the next commit needs no approval.", build: manual, commit: secondCommit, image: oldImage,
			want: []string{oldImage, secondCommit, "", v1alpha1.ReasonBuilt},
		},
		"Forged": {
			reason: "An image that an editor wrote is never the image of a commit.", build: manual, commit: firstCommit, image: newImage, isForged: true,
			want: []string{forgedImage, "", newImage, v1alpha1.ReasonWaiting},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.in.Spec.Build = &tc.build
			w.runs(newImage)
			if tc.isForged {
				w.forges(w.in.Status.BuiltImage.Request, firstCommit)
			}
			w.in.Status = v1alpha1.ApplicationStatus{}
			w.builds("Built", imageOf(tc.commit, tc.image))
			w.run()
			w.deployed()
			w.run()
			s := w.in.Status
			got := []string{w.deploymentImage(), s.Commit, s.Build.Waiting.Image, w.condition(v1alpha1.TypeBuilt).Reason}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): image, its commit, held image, reason of Built: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLostRecordWhileBuilding has an Application whose status has no record, as after an upgrade, while the next commit is built. An edit beside the source
// goes out with the image that the ImageBuild reports, and with no other image.
func TestLostRecordWhileBuilding(t *testing.T) {
	cases := map[string]struct {
		reason   string
		isForged bool
		image    string
		commit   string
		env      bool
	}{
		"Reported": {reason: "The image of the deployment is the last image of the ImageBuild.", image: newImage, commit: firstCommit, env: true},
		"Forged":   {reason: "An image that an editor wrote is no image of a commit.", isForged: true, image: forgedImage},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.runs(newImage)
			if tc.isForged {
				w.forges(w.in.Status.BuiltImage.Request, firstCommit)
			}
			w.in.Status.BuiltImage = v1alpha1.BuiltImage{}
			w.builds("Building", func(o *buildv1alpha1.ImageBuildObservation) {
				imageOf(firstCommit, newImage)(o)
				atCommit(secondCommit)(o)
			})
			w.in.Spec.Env = []deploymentv1alpha1.EnvVar{{Name: "A", Value: "1"}}
			w.run()
			if got := w.desiredSpec().Expectation; got.Image != tc.image || (got.Runtime != nil) != tc.env || w.in.Status.Commit != tc.commit {
				t.Errorf("\n%s\nRun(...): got commit %q, expectation %+v", tc.reason, w.in.Status.Commit, got)
			}
		})
	}
}
