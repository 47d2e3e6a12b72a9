package application

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// defaultConfig is the ClusterProviderConfig with the build settings for Applications whose repository is named by a ProviderConfig.
const defaultConfig = "default"

// requestBuild adds the ImageBuild of a source to the desired resources, and fills in the evidence about it. It returns the digest of the build request. An
// ImageBuild that is not needed any more is left out once the desired image of the deployment is the image of the spec.
func requestBuild(in Input, o observed, f *Facts, out *Output) (string, error) {
	if !in.Spec.IsBuilt() {
		if o.deployment != nil && o.deployment.desiredImage() == in.Spec.Image {
			delete(out.Resources, BuildName)
		}
		return "", nil
	}
	want := BuildFor(in)
	requested, err := digest.BuildRequest(&want.Spec.ForProvider)
	if err != nil {
		return "", err
	}
	f.observeBuild(in, o, requested)
	return requested, addResource(out, BuildName, want)
}

// BuildFor returns the desired ImageBuild of an Application with a source. Defaults of the spec have to be filled in.
func BuildFor(in Input) *buildv1alpha1.ImageBuild {
	config := defaultConfig
	if ref := in.Spec.Deploy.DeliveryConfig.GitOpsRepo; ref.Kind == policy.KindClusterProviderConfig && ref.Name != "" {
		config = ref.Name
	}
	return &buildv1alpha1.ImageBuild{
		TypeMeta:   metav1.TypeMeta{APIVersion: buildv1alpha1.GroupVersion.String(), Kind: "ImageBuild"},
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Namespace, Name: in.Name, Labels: map[string]string{LabelApplication: in.Name}},
		Spec: buildv1alpha1.ImageBuildSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{
				ManagementPolicies:      xpv2.ManagementPolicies{xpv2.ManagementActionAll},
				ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: policy.KindClusterProviderConfig, Name: config},
			},
			ForProvider: buildv1alpha1.ImageBuildParameters{
				ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: in.APIGroup, Kind: v1alpha1.Kind, Namespace: in.Namespace, Name: in.Name},
				Source:   *in.Spec.Source, Settings: in.Spec.Build.Settings,
			},
		},
	}
}

// observeBuild fills in the evidence about the image of the source. While the build is blocked until a user acts, it sets the problem or the missing
// object, unless the requested image exists.
func (f *Facts) observeBuild(in Input, o observed, request string) {
	f.Build = ObserveBuild(o.build, request)
	f.Build.takeInForce(f.InForce, o.deployment, in.Spec.Build)
	f.Source = v1alpha1.SourceStatus{Commit: f.Build.Commit, SeenAt: f.Build.seenAt}
	if git := in.Spec.Source.Git; git != nil {
		f.Source.Revision = git.Revision
	}
	if f.Build.WantedImage() != "" {
		return
	}
	switch reason := xpv2.ConditionReason(f.Build.Reason); {
	case slices.Contains(refusalReasons(), reason):
		f.Problem, f.ProblemReason = f.buildMessage(), f.Build.Reason
	case f.Build.State == BuildWaiting && reason != buildv1alpha1.ReasonQueued:
		f.Missing, f.MissingReason = f.buildMessage(), f.Build.Reason
	}
}

// refusalReasons returns the reasons of a refused build request.
func refusalReasons() []xpv2.ConditionReason {
	return []xpv2.ConditionReason{buildv1alpha1.ReasonPolicyDenied, buildv1alpha1.ReasonForeignImage, buildv1alpha1.ReasonInvalid, buildv1alpha1.ReasonNameTaken, buildv1alpha1.ReasonImageRefused}
}

// ObserveBuild returns the evidence in the status of an ImageBuild, where request is the digest of the build request. A status about another request proves
// nothing, and neither does a condition of another generation.
func ObserveBuild(observed *buildv1alpha1.ImageBuild, request string) Build {
	if observed == nil || observed.Status.AtProvider.Wanted.Request != request {
		return Build{State: BuildUnknown}
	}
	observation, ready := observed.Status.AtProvider, observed.GetCondition(xpv2.TypeReady)
	if ready.ObservedGeneration != observed.GetGeneration() {
		ready = xpv2.Condition{Reason: buildv1alpha1.ReasonNotObserved}
	}
	b := Build{
		State: stateOfBuild(observation, ready.Reason), Reason: string(ready.Reason), Message: ready.Message, Commit: observation.Wanted.Commit, seenAt: observation.Wanted.SeenAt,
		SourceTrouble: observation.SourceTrouble.Message,
	}
	if observation.Wanted.Commit != "" || observed.Spec.ForProvider.Source.Blob != nil {
		b.Wanted = imageInputsID(observation.Wanted.Request, observation.Wanted.Commit)
	}
	if l := observation.Latest; l != nil {
		b.Built, b.Image, b.Name, b.Cause = imageInputsID(l.Request, l.Commit), l.Image, l.Build, l.Reason
	}
	b.describeLast(observation)
	return b
}

// imageInputsID identifies the inputs of an image.
func imageInputsID(request, commit string) string { return request + "/" + commit }

// describeLast describes the Build that runs, or that failed.
func (b *Build) describeLast(observation buildv1alpha1.ImageBuildObservation) {
	switch {
	case b.State == BuildRunning && observation.Running != nil:
		b.Name, b.Step = observation.Running.Build, observation.Running.Step
	case observation.Failed != nil && (b.State == BuildFailed || b.Reason == string(buildv1alpha1.ReasonRetrying)):
		b.Name, b.Step, b.Logs, b.Message, b.FailedFor = observation.Failed.Build, observation.Failed.Step, observation.Failed.Logs, observation.Failed.Message, observation.Failed.Reason
	}
}

// stateOfBuild returns the state of the build of the wanted image.
func stateOfBuild(observation buildv1alpha1.ImageBuildObservation, reason xpv2.ConditionReason) BuildState {
	if observation.WantedImage() != nil {
		return stateOfRebuild(observation)
	}
	switch reason {
	case buildv1alpha1.ReasonBuilding, buildv1alpha1.ReasonRetrying, buildv1alpha1.ReasonPodPending:
		return BuildRunning
	case buildv1alpha1.ReasonBuildFailed, buildv1alpha1.ReasonBuildDisrupted:
		return BuildFailed
	case buildv1alpha1.ReasonNotObserved, buildv1alpha1.ReasonBuilt, "":
		return BuildUnknown
	}
	return BuildWaiting
}

// stateOfRebuild returns the state of the last build, if the wanted image exists already.
func stateOfRebuild(observation buildv1alpha1.ImageBuildObservation) BuildState {
	switch {
	case observation.Running != nil:
		return BuildRunning
	case observation.Failed != nil && observation.Failed.Request == observation.Wanted.Request && observation.Failed.Commit == observation.Wanted.Commit:
		return BuildFailed
	}
	return BuildSucceeded
}
