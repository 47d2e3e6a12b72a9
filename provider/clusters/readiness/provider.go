package readiness

// infrastructureDone returns the ready signal of an infrastructure object, by the contract of its kind.
func infrastructureDone(o Object) bool {
	done, _ := o.findSignal(o.Contract.layout().infrastructureReady)
	return done
}

func infrastructureReady(in Input) Condition {
	const of = TypeInfrastructureReady
	c, o := in.Cluster, in.Infrastructure
	taken := infrastructureProvisioned(c)
	switch {
	case o.Missing == ReasonNotReferenced && taken:
		return c.conditionWith(of, True, ReasonProvisioned, "")
	case o.Missing != "":
		return o.unreadCondition(of)
	case !infrastructureDone(o) && taken:
		return o.conditionWith(of, False, ReasonNotReady, describeFailure(o))
	case !infrastructureDone(o):
		return o.conditionWith(of, False, ReasonProvisioning, describeFailure(o))
	case !taken:
		return c.conditionWith(of, False, ReasonProvisioning, "Cluster API has not taken over yet that its infrastructure is ready")
	case o.GetDeletionTimestamp() != nil:
		return o.conditionWith(of, False, ReasonNotReady, "it is being deleted")
	case o.findCondition("Ready").hasStatus(False):
		return o.conditionWith(of, False, ReasonNotReady, describeFailure(o))
	}
	return o.conditionWith(of, True, ReasonProvisioned, "")
}

// describeFailure returns the message of an object that explains why it is not ready. CAPT says it of its VPC.
func describeFailure(o Object) string {
	for _, of := range []string{"Ready", "VPCReady", typeAvailable} {
		if c := o.findCondition(of); c.found && !c.hasStatus(True) && c.messageText() != "" {
			return c.messageText()
		}
	}
	return o.failureText()
}

// controlPlaneInitialized is latched: a provider may say later that it is not, and the API server answered all the same.
func controlPlaneInitialized(in Input) Condition {
	const of = TypeControlPlaneInitialized
	c, o := in.Cluster, in.ControlPlane
	switch {
	case initializedSaid(c):
		return c.conditionWith(of, True, ReasonInitialized, "")
	case in.Initialized.UID != "" && in.Initialized.UID == c.objectUID():
		return c.conditionWith(of, True, ReasonInitialized, "it was, and its provider no longer says so")
	case o.Missing != "" && o.Missing != ReasonNotReferenced:
		return o.unreadCondition(of)
	case o.Missing == ReasonNotReferenced:
		return c.conditionWith(of, False, ReasonNotInitialized, newCondition(c, of).messageText())
	}
	return o.conditionWith(of, False, ReasonNotInitialized, describeFailure(o))
}

func controlPlaneReady(in Input) Condition {
	const of = TypeControlPlaneReady
	c, o := in.Cluster, in.ControlPlane
	if o.Missing != "" && o.Missing != ReasonNotReferenced {
		return o.unreadCondition(of)
	}
	by := o
	if o.Missing == ReasonNotReferenced {
		by = c
	}
	if by.GetDeletionTimestamp() != nil {
		return by.conditionWith(of, False, ReasonNotReady, "it is being deleted")
	}
	if well, message := controlPlaneWell(c, o); !well {
		return by.conditionWith(of, False, notYet(in), message)
	}
	return by.conditionWith(of, True, ReasonAvailable, "")
}

// notYet distinguishes a control plane that was never ready, a replacement on a user's request, and a loss of readiness.
func notYet(in Input) string {
	switch {
	case controlPlaneInitialized(in).Status != True:
		return ReasonNotInitialized
	case isRolling(in):
		return ReasonRollingOut
	}
	return ReasonNotReady
}

// controlPlaneWell returns the ready signal of the control plane by its contract, or else the signal of the Cluster about it.
func controlPlaneWell(c, o Object) (bool, string) {
	if !o.isThere() {
		return clusterSaysWell(c)
	}
	well, by := o.findSignal(o.Contract.layout().controlPlaneReady)
	if by.found {
		return well, by.messageText()
	}
	return well, describeFailure(o)
}

func clusterSaysWell(c Object) (bool, string) {
	well, by := c.findSignal(c.contractVersion().layout().controlPlaneAvailable)
	return well, by.messageText()
}

// providerHealthy names who failed. The message of an earlier failure, after which all objects became ready, stays in the condition and does
// no harm: no failure here is final.
func providerHealthy(in Input) Condition {
	const of = TypeProviderHealthy
	if w, failed := failedWorkspace(in.Behind); failed.found {
		return w.conditionWith(of, False, ReasonTerraformFailed, failed.messageText())
	}
	status := False
	if infrastructureReady(in).Status == True && controlPlaneReady(in).Status == True {
		status = True
	}
	for _, o := range []Object{in.ControlPlane, in.Infrastructure, in.Cluster} {
		if f := o.failureText(); f != "" {
			return o.conditionWith(of, status, ReasonFailureReported, f)
		}
	}
	if in.Cluster.textField("status", "phase") == "Failed" {
		return in.Cluster.conditionWith(of, status, ReasonFailureReported, "its phase is Failed")
	}
	return in.Cluster.conditionWith(of, True, ReasonNoFailure, "")
}

// reportObjects returns the report of each requested object.
func reportObjects(in Input, r Report) []ObjectReport {
	b := r.Blocker()
	out := []ObjectReport{reportObject(in.Cluster, b.Reason == "", Condition{Reason: b.Reason, Message: b.String()})}
	add := func(o Object, of string) {
		if c := r.Condition(of); o.Missing != ReasonNotReferenced {
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

func reportObject(o Object, ready bool, why Condition) ObjectReport {
	out := ObjectReport{Kind: o.Subject.Kind, Name: o.Subject.Name, UID: o.objectUID(), Ready: ready}
	if o.isThere() {
		out.APIVersion = o.GetAPIVersion()
	}
	if !ready {
		out.Reason, out.Message = why.Reason, why.Message
	}
	return out
}
