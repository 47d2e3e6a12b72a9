package kpack

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

const (
	commit = "1111111111111111111111111111111111111111"
	other  = "2222222222222222222222222222222222222222"
	digest = "@sha256:3333333333333333333333333333333333333333333333333333333333333333"
)

func wanted() Want {
	return Want{
		Request: "sha256:request", Trigger: "1", Commit: commit, URL: "https://git.example.org/shop.git", SubPath: "web",
		Repository: "registry.example.org/apps/team-a/shop",
		Builder:    buildv1alpha1.BuilderReference{Kind: "ClusterBuilder", Name: "default"}, ServiceAccount: "builder",
		BuilderImage: "registry.example.org/builder@sha256:now",
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// imageThat returns an Image at generation 2, whose status speaks about a generation.
func imageThat(t *testing.T, observed, status, reason string) *unstructured.Unstructured {
	t.Helper()
	u := object(t, `{apiVersion: kpack.io/v1alpha2, kind: Image, metadata: {name: shop, namespace: team-a}, spec: {tag: registry.example.org/apps/team-a/shop},
status: {observedGeneration: `+observed+`, latestBuildRef: shop-build-1, conditions: [{type: Ready, status: "`+status+`", reason: `+reason+`, message: why}]}}`)
	u.SetGeneration(2)
	return u
}

// buildThat returns a Build of a commit for a request and a trigger.
func buildThat(t *testing.T, commitID, request, trigger, succeeded, image string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{apiVersion: kpack.io/v1alpha2, kind: Build, metadata: {name: shop-build-1, namespace: team-a,
annotations: {build.intentplane.dev/request: "`+request+`", build.intentplane.dev/trigger: "`+trigger+`"}}, spec: {source: {git: {url: "https://git.example.org/shop.git", revision: "`+commitID+`"}, subPath: web}, serviceAccountName: builder},
status: {latestImage: "`+image+`", conditions: [{type: Succeeded, status: "`+succeeded+`", lastTransitionTime: "2026-11-01T12:00:00Z"}]}}`)
}

// TestJudgeBuild has each state of an Image with each of its last Build. The first word of a reason is that of kpack.
func TestJudgeBuild(t *testing.T) {
	const ours = "registry.example.org/apps/team-a/shop" + digest
	ok := func(t *testing.T) *unstructured.Unstructured {
		t.Helper()
		return buildThat(t, commit, "sha256:request", "1", "True", ours)
	}
	buildOf := func(commitID, request, trigger, succeeded, image string) func(*testing.T) *unstructured.Unstructured {
		return func(t *testing.T) *unstructured.Unstructured {
			t.Helper()
			return buildThat(t, commitID, request, trigger, succeeded, image)
		}
	}
	noImage := func(*testing.T) *unstructured.Unstructured { return nil }
	edited := func(succeeded, value string, path ...string) func(*testing.T) *unstructured.Unstructured {
		return func(t *testing.T) *unstructured.Unstructured {
			t.Helper()
			b := buildThat(t, commit, "sha256:request", "1", succeeded, ours)
			if err := unstructured.SetNestedField(b.Object, value, path...); err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	cases := map[string]struct {
		reason                 string
		observed, status, says string
		build                  func(*testing.T) *unstructured.Unstructured
		want                   Verdict
	}{
		"Succeeded": {
			reason:   "An Image that is up to date, with a Build of the commit, is evidence.",
			observed: "2", status: "True", says: "UpToDate", build: ok, want: Succeeded,
		},
		"Behind": {
			reason:   "An Image that was not taken up at its current generation proves nothing.",
			observed: "1", status: "True", says: "UpToDate", build: ok, want: Unknown,
		},
		"OtherCommit": {
			reason:   "An Image that is up to date with a Build of another commit proves nothing.",
			observed: "2", status: "True", says: "UpToDate", build: buildOf(other, "sha256:request", "1", "True", ours), want: Unknown,
		},
		"NotSucceeded": {
			reason:   "An Image that is up to date with a Build that failed proves nothing.",
			observed: "2", status: "True", says: "UpToDate", build: buildOf(commit, "sha256:request", "1", "False", ours), want: Unknown,
		},
		"OtherRequest": {
			reason:   "kpack does not build for each edit, so a success of the same commit counts.",
			observed: "2", status: "True", says: "UpToDate", build: buildOf(commit, "sha256:before", "1", "True", ours), want: Succeeded,
		},
		"OtherTrigger": {
			reason:   "A trigger asks for another Build, which kpack would not make by itself.",
			observed: "2", status: "True", says: "UpToDate", build: buildOf(commit, "sha256:request", "0", "True", ours), want: NotBuilt,
		},
		"Foreign": {
			reason:   "A Build that names the image of another repository is refused.",
			observed: "2", status: "True", says: "UpToDate",
			build: buildOf(commit, "sha256:request", "1", "True", "registry.example.org/apps/team-b/shop"+digest), want: Foreign,
		},
		"Below": {
			reason:   "A repository below the repository of the Image is another repository.",
			observed: "2", status: "True", says: "UpToDate",
			build: buildOf(commit, "sha256:request", "1", "True", "registry.example.org/apps/team-a/shop/x"+digest), want: Foreign,
		},
		"NoDigest": {
			reason:   "A tag may point to another image later.",
			observed: "2", status: "True", says: "UpToDate",
			build: buildOf(commit, "sha256:request", "1", "True", "registry.example.org/apps/team-a/shop:latest"), want: Foreign,
		},
		"Failed": {
			reason:   "A Build of the desired image failed.",
			observed: "2", status: "False", says: "BuildFailed", build: buildOf(commit, "sha256:request", "1", "False", ""), want: Failed,
		},
		"FailedBefore": {
			reason:   "A Build of an earlier request failed, after which kpack builds nothing by itself.",
			observed: "2", status: "False", says: "BuildFailed", build: buildOf(commit, "sha256:before", "1", "False", ""), want: NotBuilt,
		},
		"FailedTrigger": {
			reason:   "A Build that failed is asked for again by another trigger.",
			observed: "2", status: "False", says: "BuildFailed", build: buildOf(commit, "sha256:request", "0", "False", ""), want: NotBuilt,
		},
		"FailedCommit": {
			reason:   "After a failed Build of another commit kpack builds by itself.",
			observed: "2", status: "False", says: "BuildFailed", build: buildOf(other, "sha256:request", "1", "False", ""), want: Unknown,
		},
		"FailedBuilder": {
			reason:   "A Build of another builder failed, after which kpack builds nothing by itself.",
			observed: "2", status: "False", says: "BuildFailed",
			build: edited("False", "broken", "metadata", "annotations", "image.kpack.io/builderName"), want: NotBuilt,
		},
		"FailedKind": {
			reason:   "A Build of a Builder failed, and a ClusterBuilder of its name is wanted.",
			observed: "2", status: "False", says: "BuildFailed",
			build: edited("False", "Builder", "metadata", "annotations", "image.kpack.io/builderKind"), want: NotBuilt,
		},
		"FailedAccount": {
			reason:   "A Build with another service account failed.",
			observed: "2", status: "False", says: "BuildFailed", build: edited("False", "other", "spec", "serviceAccountName"), want: NotBuilt,
		},
		"FailedImage": {
			reason:   "A Build failed with the previous image of the builder.",
			observed: "2", status: "False", says: "BuildFailed",
			build: edited("False", "registry.example.org/builder@sha256:before", "spec", "builder", "image"), want: NotBuilt,
		},
		"FailedNow": {
			reason:   "A Build failed with the builder as it is now.",
			observed: "2", status: "False", says: "BuildFailed",
			build: edited("False", "registry.example.org/builder@sha256:now", "spec", "builder", "image"), want: Failed,
		},
		"BuiltImage": {
			reason:   "kpack rebuilds an image by itself if another image of the builder built it.",
			observed: "2", status: "True", says: "UpToDate",
			build: edited("True", "registry.example.org/builder@sha256:before", "spec", "builder", "image"), want: Succeeded,
		},
		"FailedSame": {
			reason:   "A Build with the builder that is wanted failed.",
			observed: "2", status: "False", says: "BuildFailed",
			build: edited("False", "default", "metadata", "annotations", "image.kpack.io/builderName"), want: Failed,
		},
		"FailedURL": {
			reason:   "After a failed Build of another repository kpack builds by itself.",
			observed: "2", status: "False", says: "BuildFailed",
			build: edited("False", "https://git.example.org/other.git", "spec", "source", "git", "url"), want: Unknown,
		},
		"OtherURL": {
			reason:   "The same commit of another repository proves nothing.",
			observed: "2", status: "True", says: "UpToDate",
			build: edited("True", "https://git.example.org/other.git", "spec", "source", "git", "url"), want: Unknown,
		},
		"OtherPath": {
			reason:   "The same commit of another directory proves nothing.",
			observed: "2", status: "True", says: "UpToDate", build: edited("True", "api", "spec", "source", "subPath"), want: Unknown,
		},
		"OtherBuilder": {
			reason:   "kpack rebuilds an image by itself if another builder built it and the result differs.",
			observed: "2", status: "True", says: "UpToDate",
			build: edited("True", "before", "metadata", "annotations", "image.kpack.io/builderName"), want: Succeeded,
		},
		"RunningURL": {
			reason:   "A Build of another repository is not interrupted.",
			observed: "2", status: "Unknown", says: "BuildRunning",
			build: edited("Unknown", "https://git.example.org/other.git", "spec", "source", "git", "url"), want: Queued,
		},
		"FailedBehind": {
			reason:   "A failure that is about an earlier generation proves nothing.",
			observed: "1", status: "False", says: "BuildFailed", build: buildOf(commit, "sha256:request", "1", "False", ""), want: Unknown,
		},
		"Builder": {
			reason:   "A builder that is not ready does not make a Build fail.",
			observed: "2", status: "False", says: "BuilderNotReady", build: ok, want: BuilderNotReady,
		},
		"NoBuilder": {
			reason:   "A builder that does not exist does not make a Build fail.",
			observed: "2", status: "False", says: "BuilderNotFound", build: noImage, want: BuilderMissing,
		},
		"Running": {
			reason:   "A Build of the desired image runs.",
			observed: "2", status: "Unknown", says: "BuildRunning", build: buildOf(commit, "sha256:request", "1", "Unknown", ""), want: Running,
		},
		"RunningEnded": {
			reason:   "A Build that ended counts as running until the Image reports its result.",
			observed: "2", status: "Unknown", says: "BuildRunning", build: ok, want: Running,
		},
		"RunningBehind": {
			reason:   "A Build of the desired image runs, although the Image was edited after it began.",
			observed: "1", status: "Unknown", says: "BuildRunning", build: buildOf(commit, "sha256:before", "1", "Unknown", ""), want: Running,
		},
		"Queued": {
			reason:   "A Build of another commit is not interrupted.",
			observed: "2", status: "Unknown", says: "BuildRunning", build: buildOf(other, "sha256:before", "1", "Unknown", ""), want: Queued,
		},
		"QueuedTrigger": {
			reason:   "A Build of an earlier trigger is not interrupted.",
			observed: "2", status: "Unknown", says: "BuildRunning", build: buildOf(commit, "sha256:before", "0", "Unknown", ""), want: Queued,
		},
		"Scheduled": {
			reason:   "A Build that was just made is not in the cache yet.",
			observed: "2", status: "Unknown", says: "BuildRunning", build: noImage, want: Unknown,
		},
		"Resolver": {reason: "kpack has not resolved the source yet.", observed: "2", status: "Unknown", says: "ResolverNotReady", build: ok, want: Unknown},
		"State":    {reason: "kpack does not know its own state.", observed: "2", status: "Unknown", says: "UnknownState", build: ok, want: Unknown},
		"Word":     {reason: "A reason of another kpack proves nothing.", observed: "2", status: "True", says: "Shiny", build: ok, want: Unknown},
		"Contradiction": {
			reason:   "A reason that its status contradicts proves nothing.",
			observed: "2", status: "Unknown", says: "UpToDate", build: ok, want: Unknown,
		},
		"NothingBuilt":   {reason: "An Image without a Build proves nothing.", observed: "2", status: "True", says: "UpToDate", build: noImage, want: Unknown},
		"NothingAtFirst": {reason: "An Image without a status proves nothing.", observed: "0", status: "", says: `""`, build: noImage, want: Unknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Judge(imageThat(t, tc.observed, tc.status, tc.says), tc.build(t), wanted())
			if got.Verdict != tc.want || (got.Image != "") != (tc.want == Succeeded) {
				t.Errorf("\n%s\nJudge(...): %+v, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestJudgeBlob has an archive, which has no commit.
func TestJudgeBlob(t *testing.T) {
	w := wanted()
	w.Commit, w.URL, w.SubPath, w.Blob = "", "", "", "https://files.example.org/shop.tgz"
	b := buildThat(t, commit, "sha256:request", "1", "True", w.Repository+digest)
	if got := Judge(imageThat(t, "2", "True", "UpToDate"), b, w); got.Verdict != Unknown {
		t.Errorf("A Build of a commit does not count for an archive: %+v", got)
	}
	b.Object["spec"] = map[string]any{"source": map[string]any{"blob": map[string]any{"url": w.Blob}}}
	if got := Judge(imageThat(t, "2", "True", "UpToDate"), b, w); got.Verdict != Succeeded {
		t.Errorf("A Build of the archive is evidence: %+v", got)
	}
}
