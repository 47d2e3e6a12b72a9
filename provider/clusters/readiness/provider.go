package readiness

// ready is what an infrastructure object says of itself, by the contract of its kind.
func infrastructureDone(o Object) bool {
	done, _ := o.reported(o.Contract.layout().infrastructureReady)
	return done
}

func infrastructureReady(in Input) Condition {
	const of = TypeInfrastructureReady
	c, o := in.Cluster, in.Infrastructure
	taken := infrastructureProvisioned(c)
	switch {
	case o.Missing == ReasonNotReferenced && taken:
		return c.says(of, True, ReasonProvisioned, "")
	case o.Missing != "":
		return o.gap(of)
	case !infrastructureDone(o) && taken:
		return o.says(of, False, ReasonNotReady, trouble(o))
	case !infrastructureDone(o):
		return o.says(of, False, ReasonProvisioning, trouble(o))
	case !taken:
		return c.says(of, False, ReasonProvisioning, "Cluster API has not taken over yet that its infrastructure is ready")
	case o.GetDeletionTimestamp() != nil:
		return o.says(of, False, ReasonNotReady, "it is being deleted")
	case o.condition("Ready").is(False):
		return o.says(of, False, ReasonNotReady, trouble(o))
	}
	return o.says(of, True, ReasonProvisioned, "")
}

// trouble is what an object says of why it is not ready. CAPT says it of its VPC.
func trouble(o Object) string {
	for _, of := range []string{"Ready", "VPCReady", typeAvailable} {
		if c := o.condition(of); c.found && !c.is(True) && c.text() != "" {
			return c.text()
		}
	}
	return o.failure()
}

// controlPlaneInitialized is latched: a provider may take back what it said, and the API server answered all the same.
func controlPlaneInitialized(in Input) Condition {
	const of = TypeControlPlaneInitialized
	c, o := in.Cluster, in.ControlPlane
	switch {
	case initializedSaid(c):
		return c.says(of, True, ReasonInitialized, "")
	case in.Initialized.UID != "" && in.Initialized.UID == c.uid():
		return c.says(of, True, ReasonInitialized, "it was, and its provider took that back")
	case o.Missing != "" && o.Missing != ReasonNotReferenced:
		return o.gap(of)
	case o.Missing == ReasonNotReferenced:
		return c.says(of, False, ReasonNotInitialized, newCondition(c, of).text())
	}
	return o.says(of, False, ReasonNotInitialized, trouble(o))
}

func controlPlaneReady(in Input) Condition {
	const of = TypeControlPlaneReady
	c, o := in.Cluster, in.ControlPlane
	if o.Missing != "" && o.Missing != ReasonNotReferenced {
		return o.gap(of)
	}
	by := o
	if o.Missing == ReasonNotReferenced {
		by = c
	}
	if by.GetDeletionTimestamp() != nil {
		return by.says(of, False, ReasonNotReady, "it is being deleted")
	}
	if well, message := controlPlaneWell(c, o); !well {
		return by.says(of, False, notYet(in), message)
	}
	return by.says(of, True, ReasonAvailable, "")
}

// notYet tells what was never ready from what is not any more, and that from what is replaced because somebody asked for it.
func notYet(in Input) string {
	switch {
	case controlPlaneInitialized(in).Status != True:
		return ReasonNotInitialized
	case rolling(in):
		return ReasonRollingOut
	}
	return ReasonNotReady
}

// controlPlaneWell is what the control plane says of itself, by its contract, or else what the Cluster says of it.
func controlPlaneWell(c, o Object) (bool, string) {
	if !o.there() {
		return clusterSaysWell(c)
	}
	well, by := o.reported(o.Contract.layout().controlPlaneReady)
	if by.found {
		return well, by.text()
	}
	return well, trouble(o)
}

func clusterSaysWell(c Object) (bool, string) {
	well, by := c.reported(c.version().layout().controlPlaneAvailable)
	return well, by.text()
}

// providerHealthy names who failed. What is left over from a failure, after which all came to be ready, says so and does no harm:
// nothing here is final.
func providerHealthy(in Input) Condition {
	const of = TypeProviderHealthy
	if w, failed := failedWorkspace(in.Behind); failed.found {
		return w.says(of, False, ReasonTerraformFailed, failed.text())
	}
	status := False
	if infrastructureReady(in).Status == True && controlPlaneReady(in).Status == True {
		status = True
	}
	for _, o := range []Object{in.ControlPlane, in.Infrastructure, in.Cluster} {
		if f := o.failure(); f != "" {
			return o.says(of, status, ReasonFailureReported, f)
		}
	}
	if in.Cluster.text("status", "phase") == "Failed" {
		return in.Cluster.says(of, status, ReasonFailureReported, "its phase is Failed")
	}
	return in.Cluster.says(of, True, ReasonNoFailure, "")
}

// objects are what each one that was looked for comes to.
func objects(in Input, r Report) []ObjectReport {
	b := r.Blocker()
	out := []ObjectReport{report(in.Cluster, b.Reason == "", Condition{Reason: b.Reason, Message: b.String()})}
	add := func(o Object, of string) {
		if c := r.Condition(of); o.Missing != ReasonNotReferenced {
			out = append(out, report(o, c.Status == True, c))
		}
	}
	add(in.Infrastructure, TypeInfrastructureReady)
	add(in.ControlPlane, TypeControlPlaneReady)
	for _, o := range in.Behind {
		out = append(out, behind(o))
	}
	return out
}

func report(o Object, ready bool, why Condition) ObjectReport {
	out := ObjectReport{Kind: o.Subject.Kind, Name: o.Subject.Name, UID: o.uid(), Ready: ready}
	if o.there() {
		out.APIVersion = o.GetAPIVersion()
	}
	if !ready {
		out.Reason, out.Message = why.Reason, why.Message
	}
	return out
}
