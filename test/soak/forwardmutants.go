package soak

// forwardMutant is a mutant in package mandate, which the named tests find.
func forwardMutant(tests string, m mutant) mutant {
	m.pkg, m.tests = "provider/mandate", tests
	return m
}

// forwardMutants take a step, or verify a revision, without its evidence.
func forwardMutants() map[string]mutant {
	return map[string]mutant{
		"SuspendedSteps": forwardMutant("TestConcludeForward", mutant{
			reason: "A suspended canary takes no step.", file: "provider/mandate/conclude.go",
			text: "IsSuspended: m.Suspended,", becomes: "IsSuspended: false,",
		}),
		"MissingGatePasses": forwardMutant("TestConcludeForward", mutant{
			reason: "A missing Gate has not passed.", file: "provider/mandate/forward.go",
			text: "HasPassed: len(gates) > 0 && ", becomes: "HasPassed: ",
		}),
		"CheckForgotten": forwardMutant("TestConcludeForward", mutant{
			reason: "Each check of a Gate has passed.", file: "provider/mandate/forward.go",
			text: " || r.Phase != rolloutv1alpha1.CheckPassed", becomes: "",
		}),
		"PauseNotAwaited": forwardMutant("TestConcludeForward", mutant{
			reason: "A pause is waited for.", file: "provider/mandate/forward.go",
			text: "IsPauseOver: !end.IsZero() && !f.Now.Before(end),", becomes: "IsPauseOver: !end.IsZero(),",
		}),
		"PauseOfAnyPosition": forwardMutant("TestConcludeForward", mutant{
			reason: "The pause of another position is not that of the step.", file: "provider/mandate/forward.go",
			text: "if p == nil || p.Position != s.Position() {", becomes: "if p == nil {",
		}),
		"OtherPodsProven": forwardMutant("TestConcludeForward", mutant{
			reason: "A push that brings other pods proves nothing about them.", file: "provider/mandate/witness.go",
			text: " || s.Cursor.Full != recorded.Cursor.Full", becomes: "",
		}),
		"SpecOfSync": forwardMutant("TestConcludeForward", mutant{
			reason: "A SiteSync that followed the ledger proves a step.", file: "provider/mandate/forward.go",
			text: "Sync: withLatestTrees(sync),", becomes: "Sync: sync,",
		}),
		"AllStepsByMandate": forwardMutant("TestRequestsOf", mutant{
			reason: "A release of all steps is left to the function.", file: "provider/mandate/request.go",
			text: " && !r.Full", becomes: "",
		}),
		"AnyTreeRuns": forwardMutant("TestConcludeVerified", mutant{
			reason: "Each Site runs the tree that its repository has.", file: "provider/mandate/forward.go",
			text: "(o.State != v1alpha1.SiteLive || o.Tree != t.Tree)", becomes: "o.State != v1alpha1.SiteLive",
		}),
		"VerifiedWithoutTree": forwardMutant("TestConcludeVerified", mutant{
			reason: "A revision is verified with the tree of each Site.", file: "provider/mandate/verify.go",
			text: "isKnown && delivered.Tree != \"\"", becomes: "isKnown || true",
		}),
		"AloneBeforeVerdict": forwardMutant("TestConcludeAlone", mutant{
			reason: "The other track stays until the verdict is recorded.", file: "provider/mandate/conclude.go",
			text: "IsRecorded: s.Head == recorded.Head,", becomes: "IsRecorded: true,",
		}),
	}
}

// overtakingMutants take a step before another event, or without the files for it.
func overtakingMutants() map[string]mutant {
	return map[string]mutant{
		"RequestOvertaken": forwardMutant("TestConcludeForward", mutant{
			reason: "A request that is left to the function holds steps back.", file: "provider/mandate/conclude.go",
			text: "in.Requests = nil\n\tstatus.May = slices.DeleteFunc(status.May, step.Kind.GoesForward)", becomes: "in.Requests = nil",
		}),
		"HeldPromote": forwardMutant("TestConcludeForward", mutant{
			reason: "A Promote that is held back holds back no rejection.", file: "provider/mandate/conclude.go",
			text: "hold != \"\" {\n\t\t\t\tcontinue", becomes: "hold != \"\" {\n\t\t\t\tbreak",
		}),
		"StepWithoutFiles": forwardMutant("TestConcludeForward", mutant{
			reason: "A step whose files no object has is left to the function.", file: "provider/mandate/conclude.go",
			text: "HoldsFiles: f.holdsFilesOfStep(s),", becomes: "HoldsFiles: true,",
		}),
		"StepWithoutFolder": forwardMutant("TestConcludeForward", mutant{
			reason: "A step whose other folder is lost is left to the function.", file: "provider/mandate/forward.go",
			text: "&& f.lacksStepTrees(recorded, next):", becomes: "&& false:",
		}),
		"WaveOfOtherRevision": forwardMutant("TestConcludeWaves", mutant{
			reason: "A later wave gets the files of its own revision.", file: "apis/directories/later.go",
			text: "return l.Revision != s.Current.Number || l.Request", becomes: "return l.Request",
		}),
		"StepByAnyMandate": forwardMutant("TestIsAhead", mutant{
			reason: "A mandate without steps moves no request.", file: "provider/mandate/restore.go",
			text: "slices.Contains(status.May, step.KindAdvance) && isEarlierPosition", becomes: "len(slices.Clone(status.May)) > 0 && isBehind",
		}),
		"MoveByMandate": forwardMutant("TestStatus", mutant{
			reason: "A move from or to tracks is left to the function.", file: "provider/mandate/mandate.go",
			text: "return len(m.Without) == 0 && !s.IsMove() && (", becomes: "return len(m.Without) == 0 && (",
		}),
		"PauseNotSlept": {
			reason: "A delivery is reconciled once its pause is over.", file: "provider/controller/gitdelivery/fastpath/fastpath.go",
			text: "if wake, ok := c.wakes[key]; ok && ", becomes: "if wake, ok := c.wakes[key]; ok && false && ", pkg: "provider/controller/gitdelivery", tests: "TestCalm",
		},
	}
}

// guardMutants go forward although the claim does not permit it, or hold back a rollback.
func guardMutants() map[string]mutant {
	guard := func(m mutant) mutant {
		m.file, m.pkg, m.tests = "provider/controller/gitdelivery/observation/guard.go", "provider/controller/gitdelivery", "TestMandateGuard"
		return m
	}
	return map[string]mutant{
		"GuardSkipped": {
			reason: "Nothing goes forward before the claim was read.", file: "provider/mandate/forward.go",
			text: "case !f.IsGuardRead:", becomes: "case false:", pkg: "provider/mandate", tests: "TestConcludeForward",
		},
		"GuardOnTheWayBack": {
			reason: "A rollback needs no claim.", file: "provider/mandate/conclude.go",
			text: "if step.KindOf(next, *e).GoesForward() {", becomes: "if step.KindOf(next, *e) != \"\" {", pkg: "provider/mandate", tests: "TestConcludeForward",
		},
		"EchoNotAsked": {
			reason: "The function leaves an event to a provider whose status promises it, and to no other.", file: "function/deployment/mandate.go",
			text:    "return echo != nil && kind != \"\" && echo.Rules == step.Rules && echo.Revision == p.state.Current.Number && slices.Contains(echo.May, kind)",
			becomes: "return kind != \"\" && (echo == nil || echo.Rules == step.Rules) && slices.Contains(step.Kinds(), kind)",
			pkg:     "function/deployment", tests: "TestIsLeftToProvider",
		},
		"EchoWhileHeld": {
			reason: "The function decides about steps that the provider holds back.", file: "provider/mandate/echo.go",
			text: "return k.GoesForward() && out.Hold != \"\" || ", becomes: "return ", pkg: "provider/mandate", tests: "TestEcho",
		},
		"EditIgnored": guard(mutant{
			reason: "A claim that was edited holds the next step back.", text: "return err == nil && got == digestOfSpec", becomes: "return err == nil && got != \"\"",
		}),
		"DeletionIgnored": guard(mutant{
			reason: "A claim that is being deleted holds the next step back.", text: "case !s.IsLiving:", becomes: "case false:",
		}),
		"PauseIgnored": guard(mutant{
			reason: "A claim that is paused holds the next step back.", text: "case s.IsPaused:", becomes: "case false:",
		}),
		"SilenceIgnored": guard(mutant{
			reason: "An API server that does not answer holds the next step back.", text: "		return v1alpha1.HoldClaimUnread", becomes: "		return \"\"",
		}),
		"MandateOfOldSpec": {
			reason: "The mandate of a revision at work follows each edit.", file: "function/deployment/mandate.go",
			text: "|| p.state.IsRejected() && hasSameEffect(m, out)", becomes: "|| hasSameEffect(m, out)",
			pkg: "function/deployment", tests: "TestMandateFollowsPolicy",
		},
		"MandateOfLostHome": {
			reason: "A mandate stays beside the position of its own revision alone.", file: "function/deployment/mandate.go",
			text: "isAtEnd && isMandateInPlace(home, p.state) ||", becomes: "isAtEnd ||",
			pkg: "function/deployment", tests: "TestMandateOfLostHome",
		},
	}
}
