package application

import (
	"strings"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// recordedBuild returns the recorded image. Without a record, as after an upgrade, it returns the last image of the ImageBuild if the deployment has that image:
// the provider reports its source, also while the next commit is built.
func (o observed) recordedBuild(recorded v1alpha1.BuiltImage) v1alpha1.BuiltImage {
	if recorded.Image != "" || o.build == nil {
		return recorded
	}
	latest := o.build.Status.AtProvider.Latest
	if latest == nil || latest.Image == "" || latest.Image != o.deployment.desiredImage() {
		return recorded
	}
	return v1alpha1.BuiltImage{Image: latest.Image, Request: latest.Request, Commit: latest.Commit, Build: latest.Build}
}

// takeInForce keeps the recorded image if it was built from the wanted inputs, unless a rebuilt image may replace it, also after the evidence of its build was
// lost. Without a record, annotations about another image of the wanted inputs hold a rebuilt image back. Editors can write them: they prove no image.
func (b *Build) takeInForce(recorded v1alpha1.BuiltImage, d *observedDeployment, build *v1alpha1.Build) {
	current, rebuilt := recorded, b.WantedImage()
	if recorded.Image == "" && d != nil {
		current = d.annotatedBuild()
	}
	if current.Image == "" || current.Image == rebuilt || b.Wanted == "" || imageInputsID(current.Request, current.Commit) != b.Wanted {
		return
	}
	if rebuilt != "" {
		if mayDeliverRebuilt(build, rebuilt) {
			return
		}
		b.Waiting = v1alpha1.WaitingImage{Image: rebuilt, Reason: b.Cause}
	}
	b.Built, b.Image = b.Wanted, recorded.Image
}

// needsApproval reports whether the only image of the wanted inputs is held back.
func (b *Build) needsApproval() bool { return b.WantedImage() == "" && b.Waiting.Image != "" }

// mayDeliverRebuilt reports whether an image may be delivered that was built again of the same source.
func mayDeliverRebuilt(build *v1alpha1.Build, image string) bool {
	switch {
	case build == nil || build.Updates == v1alpha1.UpdatesAutomatic:
		return true
	case build.Updates == v1alpha1.UpdatesManual:
		return build.Approved != "" && strings.HasSuffix(image, "@"+build.Approved)
	}
	return false
}

// annotatedBuild returns the deployment's image, with the request and the commit of its build by the annotations. It proves nothing.
func (d *observedDeployment) annotatedBuild() v1alpha1.BuiltImage {
	all := d.Metadata.Annotations
	return v1alpha1.BuiltImage{Image: d.desiredImage(), Request: all[buildv1alpha1.AnnotationRequest], Commit: all[buildv1alpha1.AnnotationCommit]}
}

// annotationsFor returns the annotations of a deployment about the build of its image. They are for people, and for the policies of a cluster.
func annotationsFor(built v1alpha1.BuiltImage) map[string]string {
	return map[string]string{
		buildv1alpha1.AnnotationRequest: built.Request, buildv1alpha1.AnnotationCommit: built.Commit, buildv1alpha1.AnnotationBuild: built.Build,
	}
}
