package readiness

// infrastructureDone returns the ready signal of an infrastructure object, by the contract of its kind.
func infrastructureDone(o Object) bool {
	done, _ := o.findSignal(o.Contract.layoutOfContract().infrastructureReady)
	return done
}

func infrastructureReady(in Input) Condition {
	const conditionType = TypeInfrastructureReady
	c, o := in.Cluster, in.Infrastructure
	isProvisioned := infrastructureProvisioned(c)
	switch {
	case o.Missing == ReasonNotReferenced && isProvisioned:
		return c.conditionWith(conditionType, True, ReasonProvisioned, "")
	case o.Missing != "":
		return o.unreadCondition(conditionType)
	case !infrastructureDone(o) && isProvisioned:
		return o.conditionWith(conditionType, False, ReasonNotReady, describeFailure(o))
	case !infrastructureDone(o):
		return o.conditionWith(conditionType, False, ReasonProvisioning, describeFailure(o))
	case !isProvisioned:
		return c.conditionWith(conditionType, False, ReasonProvisioning, "Cluster API has not taken over yet that its infrastructure is ready")
	case o.GetDeletionTimestamp() != nil:
		return o.conditionWith(conditionType, False, ReasonNotReady, "it is being deleted")
	case o.findCondition("Ready").hasStatus(False):
		return o.conditionWith(conditionType, False, ReasonNotReady, describeFailure(o))
	}
	return o.conditionWith(conditionType, True, ReasonProvisioned, "")
}

// describeFailure returns the message of an object that explains why it is not ready. CAPT says it of its VPC.
func describeFailure(o Object) string {
	for _, conditionType := range []string{"Ready", "VPCReady", typeAvailable} {
		if c := o.findCondition(conditionType); c.found && !c.hasStatus(True) && c.messageText() != "" {
			return c.messageText()
		}
	}
	return o.failureText()
}

// controlPlaneInitialized is latched: a provider may say later that it is not, and the API server answered all the same.
func controlPlaneInitialized(in Input) Condition {
	const conditionType = TypeControlPlaneInitialized
	c, o := in.Cluster, in.ControlPlane
	switch {
	case initializedSaid(c):
		return c.conditionWith(conditionType, True, ReasonInitialized, "")
	case in.Initialized.UID != "" && in.Initialized.UID == c.objectUID():
		return c.conditionWith(conditionType, True, ReasonInitialized, "it was, and its provider no longer says so")
	case o.Missing != "" && o.Missing != ReasonNotReferenced:
		return o.unreadCondition(conditionType)
	case o.Missing == ReasonNotReferenced:
		return c.conditionWith(conditionType, False, ReasonNotInitialized, newCondition(c, conditionType).messageText())
	}
	return o.conditionWith(conditionType, False, ReasonNotInitialized, describeFailure(o))
}

func controlPlaneReady(in Input) Condition {
	const conditionType = TypeControlPlaneReady
	c, o := in.Cluster, in.ControlPlane
	if o.Missing != "" && o.Missing != ReasonNotReferenced {
		return o.unreadCondition(conditionType)
	}
	reporter := o
	if o.Missing == ReasonNotReferenced {
		reporter = c
	}
	if reporter.GetDeletionTimestamp() != nil {
		return reporter.conditionWith(conditionType, False, ReasonNotReady, "it is being deleted")
	}
	if well, message := controlPlaneWell(c, o); !well {
		return reporter.conditionWith(conditionType, False, notReadyReason(in), message)
	}
	return reporter.conditionWith(conditionType, True, ReasonAvailable, "")
}

// notReadyReason distinguishes a control plane that was never ready, a replacement on a user's request, and a loss of readiness.
func notReadyReason(in Input) string {
	switch {
	case controlPlaneInitialized(in).Status != True:
		return ReasonNotInitialized
	case isRollingOut(in):
		return ReasonRollingOut
	}
	return ReasonNotReady
}

// controlPlaneWell returns the ready signal of the control plane by its contract, or else the signal of the Cluster about it.
func controlPlaneWell(c, o Object) (bool, string) {
	if !o.isObjectPresent() {
		return clusterSaysWell(c)
	}
	well, found := o.findSignal(o.Contract.layoutOfContract().controlPlaneReady)
	if found.found {
		return well, found.messageText()
	}
	return well, describeFailure(o)
}

func clusterSaysWell(c Object) (bool, string) {
	well, found := c.findSignal(c.contractVersion().layoutOfContract().controlPlaneAvailable)
	return well, found.messageText()
}

// providerHealthy names who failed. The message of an earlier failure, after which all objects became ready, stays in the condition and does
// no harm: no failure here is final.
func providerHealthy(in Input) Condition {
	const conditionType = TypeProviderHealthy
	if w, failed := failedWorkspace(in.Behind); failed.found {
		return w.conditionWith(conditionType, False, ReasonTerraformFailed, failed.messageText())
	}
	status := False
	if infrastructureReady(in).Status == True && controlPlaneReady(in).Status == True {
		status = True
	}
	for _, o := range []Object{in.ControlPlane, in.Infrastructure, in.Cluster} {
		if f := o.failureText(); f != "" {
			return o.conditionWith(conditionType, status, ReasonFailureReported, f)
		}
	}
	if in.Cluster.textField("status", "phase") == "Failed" {
		return in.Cluster.conditionWith(conditionType, status, ReasonFailureReported, "its phase is Failed")
	}
	return in.Cluster.conditionWith(conditionType, True, ReasonNoFailure, "")
}

// reportObjects returns the report of each requested object.
func reportObjects(in Input, r Report) []ObjectReport {
	b := r.Blocker()
	out := []ObjectReport{reportObject(in.Cluster, b.Reason == "", Condition{Reason: b.Reason, Message: b.String()})}
	add := func(o Object, conditionType string) {
		if c := r.Condition(conditionType); o.Missing != ReasonNotReferenced {
			out = append(out, reportObject(o, c.Status == True, c))
		}
	}
	add(in.Infrastructure, TypeInfrastructureReady)
	add(in.ControlPlane, TypeControlPlaneReady)
	for _, o := range in.Behind {
		out = append(out, reportAppliedObject(o))
	}
	return out
}

func reportObject(o Object, ready bool, condition Condition) ObjectReport {
	out := ObjectReport{Kind: o.Subject.Kind, Name: o.Subject.Name, UID: o.objectUID(), Ready: ready}
	if o.isObjectPresent() {
		out.APIVersion = o.GetAPIVersion()
	}
	if !ready {
		out.Reason, out.Message = condition.Reason, condition.Message
	}
	return out
}
