package readiness

const (
	kindCAPTCluster      = "CAPTCluster"
	kindCAPTControlPlane = "CAPTControlPlane"
	kindWorkspace        = "Workspace"
)

// isCAPT is true for a cluster that CAPT builds.
func isCAPT(in Input) bool {
	return in.Infrastructure.Subject.Kind == kindCAPTCluster || in.ControlPlane.Subject.Kind == kindCAPTControlPlane
}

// failedWorkspace is the first Workspace that Terraform failed for, and what it said. The provider says so in Synced, and CAPT reads
// Ready alone.
func failedWorkspace(behind []Object) (Object, said) {
	for _, o := range behind {
		if c := o.condition("Synced"); o.Subject.Kind == kindWorkspace && c.is(False) {
			return o, c
		}
	}
	return Object{}, said{}
}

// behind is what an object comes to that CAPT's objects are made by.
func behind(o Object) ObjectReport {
	if o.Missing != "" {
		return report(o, false, o.gap(""))
	}
	if o.Subject.Kind != kindWorkspace {
		applied := o.flag("status", "applied")
		return report(o, applied, Condition{Reason: ReasonProvisioning})
	}
	synced, ready := o.condition("Synced"), o.condition("Ready")
	if synced.is(False) {
		return report(o, false, o.says("", "", ReasonTerraformFailed, synced.text()))
	}
	return report(o, synced.is(True) && ready.is(True), o.says("", "", ReasonProvisioning, ready.text()))
}

// TemplateApplyName is the WorkspaceTemplateApply that a CAPT object names. It is empty for objects of others, and for one that names
// none yet.
func (o Object) TemplateApplyName() string {
	if o.Subject.Kind != kindCAPTCluster && o.Subject.Kind != kindCAPTControlPlane {
		return ""
	}
	return o.text("spec", "workspaceTemplateApplyName")
}

// WorkspaceName is the Workspace that a WorkspaceTemplateApply made. It is empty until then.
func (o Object) WorkspaceName() string { return o.text("status", "workspaceName") }
