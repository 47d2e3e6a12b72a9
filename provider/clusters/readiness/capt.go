package readiness

const (
	kindCAPTCluster      = "CAPTCluster"
	kindCAPTControlPlane = "CAPTControlPlane"
	kindWorkspace        = "Workspace"
)

// isCAPTCluster is true for a cluster that CAPT builds.
func isCAPTCluster(in Input) bool {
	return in.Infrastructure.Subject.Kind == kindCAPTCluster || in.ControlPlane.Subject.Kind == kindCAPTControlPlane
}

// failedWorkspace returns the first Workspace that Terraform failed for, and the condition with its error. The provider says so in Synced,
// and CAPT reads Ready alone.
func failedWorkspace(behind []Object) (Object, foundCondition) {
	for _, o := range behind {
		if c := o.findCondition("Synced"); o.Subject.Kind == kindWorkspace && c.hasStatus(False) {
			return o, c
		}
	}
	return Object{}, foundCondition{}
}

// reportAppliedObject reports the readiness of an object that makes CAPT's infrastructure.
func reportAppliedObject(o Object) ObjectReport {
	if o.Missing != "" {
		return reportObject(o, false, o.unreadCondition(""))
	}
	if o.Subject.Kind != kindWorkspace {
		applied := o.boolField("status", "applied")
		return reportObject(o, applied, Condition{Reason: ReasonProvisioning})
	}
	synced, ready := o.findCondition("Synced"), o.findCondition("Ready")
	if synced.hasStatus(False) {
		return reportObject(o, false, o.conditionWith("", "", ReasonTerraformFailed, synced.messageText()))
	}
	return reportObject(o, synced.hasStatus(True) && ready.hasStatus(True), o.conditionWith("", "", ReasonProvisioning, ready.messageText()))
}

// TemplateApplyName is the WorkspaceTemplateApply that a CAPT object names. It is empty for objects of other providers, and while the object
// names none.
func (o Object) TemplateApplyName() string {
	if o.Subject.Kind != kindCAPTCluster && o.Subject.Kind != kindCAPTControlPlane {
		return ""
	}
	return o.textField("spec", "workspaceTemplateApplyName")
}

// WorkspaceName is the Workspace that a WorkspaceTemplateApply made. It is empty until then.
func (o Object) WorkspaceName() string { return o.textField("status", "workspaceName") }
