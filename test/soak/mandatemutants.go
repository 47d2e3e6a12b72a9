package soak

import "maps"

// mandateMutants break the rules by which the provider concludes a revision without the function.
func mandateMutants() map[string]mutant {
	out := map[string]mutant{}
	for _, some := range []map[string]mutant{
		coverMutants(), witnessMutants(), policyMutants(), recordMutants(), followerMutants(), observerMutants(), requestMutants(), stageMutants(),
		forwardMutants(), overtakingMutants(), guardMutants(), waveMutants(),
	} {
		maps.Copy(out, some)
	}
	return out
}

// coverMutants let the provider act by a mandate that is void, or where it may not.
func coverMutants() map[string]mutant {
	return map[string]mutant{
		"AnyRevision": {
			reason: "A mandate is for one revision.", file: "apis/delivery/v1alpha1/mandate_types.go",
			text: "return m.Revision == s.Current.Number || m.Revision == s.Withdraws", becomes: "return true", pkg: "provider/mandate", tests: "TestStatus",
		},
		"AnyEpoch": {
			reason: "A mandate is void once the ledger was recovered.", file: "apis/delivery/v1alpha1/mandate_types.go",
			text: "|| m.Epoch != s.Epoch {", becomes: "{", pkg: "provider/mandate", tests: "TestStatus",
		},
		"AnyLedger": {
			reason: "A mandate is for one ledger.", file: "apis/delivery/v1alpha1/mandate_types.go",
			text: "|| m.Ledger != s.Ledger ", becomes: "", pkg: "provider/mandate", tests: "TestStatus",
		},
		"AnyRules": {
			reason: "A provider does nothing by rules that it does not know.", file: "provider/mandate/mandate.go",
			text: "m.Rules != step.Rules ||", becomes: "", pkg: "provider/mandate", tests: "TestStatus",
		},
		"AnyKind": {
			reason: "A mandate lists the events that the provider may record.", file: "provider/mandate/conclude.go",
			text: "e == nil || !slices.Contains(status.May, step.KindOf(s, *e))", becomes: "e == nil", pkg: "provider/mandate", tests: "TestConclude",
		},
		"MoveInSeveralRepositories": {
			reason: "A move from or to tracks in several repositories is left to the function.", file: "provider/mandate/mandate.go",
			text: "|| isAcrossTracks(s) && !isInHomeAlone(s) {", becomes: "{", pkg: "provider/mandate", tests: "TestStatus",
		},
		"NotHonoured": {
			reason: "A flag of the provider switches mandates off.", file: "provider/controller/gitdelivery/observation/mandate.go",
			text: "return g.HonoursMandates && ", becomes: "return ", pkg: "provider/controller/gitdelivery/observation", tests: "TestActsByMandate",
		},
		"ObservedAlone": {
			reason: "A home that may only be observed is left as it is.", file: "provider/controller/gitdelivery/observation/mandate.go",
			text: " && mayWrite &&", becomes: " && (mayWrite || true) &&", pkg: "provider/controller/gitdelivery/observation", tests: "TestActsByMandate",
		},
		"HomeDeleted": {
			reason: "A home that is being deleted is left as it is.", file: "provider/controller/gitdelivery/observation/mandate.go",
			text: "mayWrite && !meta.WasDeleted(d)", becomes: "mayWrite && (true || meta.WasDeleted(d))", pkg: "provider/controller/gitdelivery/observation", tests: "TestActsByMandate",
		},
		"ForcedAway": {
			reason: "A home that the ledger was forced away from records nothing.", file: "provider/delivery/decision/mandate.go",
			text: "len(events) > 0 && !f.Ledger.isBehindKnown(next) {", becomes: "len(events) > 0 {", pkg: "provider/controller/gitdelivery", tests: "TestMandate",
		},
	}
}

// witnessMutants accept facts without proof.
func witnessMutants() map[string]mutant {
	conclude := func(m mutant) mutant {
		m.pkg, m.tests = "provider/mandate", "TestConclude"
		return m
	}
	return map[string]mutant{
		"AnyController": conclude(mutant{
			reason: "A Gate of another controller proves nothing.", file: "provider/mandate/witness.go",
			text: "|| owner.UID != otherOwner.UID ", becomes: "",
		}),
		"AnyClaim": conclude(mutant{
			reason: "A SiteSync of another claim proves nothing.", file: "provider/mandate/witness.go",
			text: " && claim == d.Spec.ForProvider.ClaimRef", becomes: "",
		}),
		"AnyNamespace": conclude(mutant{
			reason: "A Gate of another namespace proves nothing.", file: "provider/mandate/witness.go",
			text: "return o.GetNamespace() == d.GetNamespace() && ", becomes: "return ",
		}),
		"WitnessDeleted": conclude(mutant{
			reason: "A Gate that is being deleted proves nothing.", file: "provider/mandate/witness.go",
			text: "o.GetDeletionTimestamp() == nil && ", becomes: "",
		}),
		"GateOfAnyStep": conclude(mutant{
			reason: "A Gate of another step proves nothing.", file: "provider/mandate/witness.go",
			text: "evidence.IsGateOf(g, s)", becomes: "evidence.IsGateOfRevision(g, s)",
		}),
		"AnyRevisionID": conclude(mutant{
			reason: "A Gate of the revision of another ledger proves nothing.", file: "apis/evidence/gate.go",
			text: " && g.GetAnnotations()[AnnotationRevision] == RevisionID(s)", becomes: "",
		}),
		"InconclusiveRejects": conclude(mutant{
			reason: "A Gate without a conclusion is left to a user.", file: "apis/evidence/gate.go",
			text: "|| v == rolloutv1alpha1.GateInconclusive {", becomes: "{",
		}),
		"ProposedPosition": conclude(mutant{
			reason: "Nothing is proven of a position that is only proposed.", file: "provider/mandate/conclude.go",
			text: "if s.Position() == recorded.Position() {", becomes: "if s.Position() != (ledger.Position{}) {",
		}),
		"OtherTrees": conclude(mutant{
			reason: "A SiteSync that looks for other trees proves nothing.", file: "provider/mandate/witness.go",
			text: "sync != nil && f.expectsTreesOfSpecs(sync, s)", becomes: "sync != nil",
		}),
		"LiveByDelivery": conclude(mutant{
			reason: "A rollback ends once each Site is proven to run the target.", file: "provider/mandate/witness.go",
			text: "return t.Action != v1alpha1.ActionKeep && !f.isTreeProvenLive(t, position)", becomes: "return t.Action == v1alpha1.ActionKeep && !f.isTreeProvenLive(t, position)",
		}),
		"EachEvent": {
			reason: "A Gate that measures on wakes no home.", file: "provider/witness/statement.go",
			text: "return statementOf(e.ObjectOld) != statementOf(e.ObjectNew)", becomes: "return statementOf(e.ObjectOld) != \"never\"",
			pkg: "provider/witness", tests: "TestHasNewStatement",
		},
	}
}

// policyMutants roll back revisions that are to stay, or roll back against the policy.
func policyMutants() map[string]mutant {
	return map[string]mutant{
		"AttemptsNotCounted": {
			reason: "A rollback has as many attempts as the policy says.", file: "provider/mandate/conclude.go",
			text: "MaxRetries: m.Rollback.MaxRetries,", becomes: "MaxRetries: 10,", pkg: "provider/mandate", tests: "TestConclude",
		},
		"HourNotCounted": {
			reason: "Only so many revisions are rolled back within an hour.", file: "provider/mandate/conclude.go",
			text: "MaxPerHour: m.Rollback.MaxPerHour}", becomes: "MaxPerHour: 0 * m.Rollback.MaxPerHour}", pkg: "provider/mandate", tests: "TestConclude",
		},
		"HourWithoutTime": {
			reason: "The hour is counted from when the verdict is recorded.", file: "provider/mandate/conclude.go",
			text: "ledger.Append(next, f.Now, *e)", becomes: "ledger.Append(next, time.Time{}, *e)", pkg: "provider/mandate", tests: "TestConclude",
		},
		"IrreversibleIgnored": {
			reason: "A revision that changed irreversible objects is not rolled back.", file: "apis/step/rollback.go",
			text: "case !r.Irreversible && (", becomes: "case true || (", pkg: "provider/mandate", tests: "TestConclude",
		},
		"SuspendStopsRollback": {
			reason: "A suspended deployment is rolled back.", file: "provider/mandate/conclude.go",
			text: "	if status == nil {", becomes: "	if status == nil || f.Home.Spec.ForProvider.Mandate.Suspended {", pkg: "provider/mandate", tests: "TestConclude",
		},
		"LeftSiteRestored": {
			reason: "Nothing is restored at a Site that the deployment is not for any more.", file: "provider/mandate/restore.go",
			text: "!isServed || !f.isChosenSite(t.Site) ||", becomes: "!isServed ||", pkg: "provider/mandate", tests: "TestFollow",
		},
		"NeverThere": {
			reason: "Nothing is restored to a directory that was never delivered.", file: "provider/mandate/restore.go",
			text: "|| f.isUntouched(t) ", becomes: "", pkg: "provider/mandate", tests: "TestFollow",
		},
		"OtherRevisionsTrees": {
			reason: "Trees of another revision are not replaced.", file: "provider/mandate/mandate.go",
			text: " && (p.Revision == s.Current.Number || p.Revision == s.Withdraws)", becomes: "", pkg: "provider/mandate", tests: "TestIsAhead",
		},
		"RejectedGoesOn": {
			reason: "Nothing of a rejected revision is delivered any more.", file: "provider/mandate/restore.go",
			text: "isEarlierPosition(requested, s) || isOfRevision(requested, s) && recorded.Attempt == 0", becomes: "isEarlierPosition(requested, s) || isOfRevision(requested, s) && recorded.Attempt < 0", pkg: "provider/mandate", tests: "TestIsAhead",
		},
		"RejectedRemoves": {
			reason: "A revision that is rejected removes no directory.", file: "provider/mandate/restore.go",
			text: "p.Position, p.Trees, p.Settled = &position, f.followTrees(p, recorded, s), false", becomes: "p.Position, p.Trees = &position, f.followTrees(p, recorded, s)", pkg: "provider/mandate", tests: "TestFollow",
		},
		"MissingSiteStopsAll": {
			reason: "A Site that is missing stops its own directory alone.", file: "provider/delivery/decision/mandate.go",
			text: "f.Spec.Trees[i] = directories.Retain(t)", becomes: "_ = directories.Retain(t)", pkg: "provider/controller/gitdelivery", tests: "TestMandateMissingSite",
		},
	}
}

// stageMutants move requests, or remove pods, where nothing is proven, or move none.
func stageMutants() map[string]mutant {
	return map[string]mutant{
		"FilesMissing": {
			reason: "A canary whose spec lacks the shared files is left to the function.", file: "provider/mandate/tracks.go",
			text: " && len(t.Files) == 0", becomes: " && false", pkg: "provider/mandate", tests: "TestCanMoveRequests",
		},
		"TracksUnapplied": {
			reason: "Nothing is known of tracks before the repository was brought to the recorded position.", file: "provider/mandate/conclude.go",
			text: "return f.Applied == recorded.Position()\n", becomes: "return true\n",
			pkg: "provider/mandate", tests: "TestConcludeTracks",
		},
		"DrainNotProven": {
			reason: "The pods of a canary go once its requests are proven to have ended.", file: "apis/evidence/tracks.go",
			text: "proof.Idle && proof.ProvenAt != nil && proof.ProvenAt.Compare(*t.WeighedAt) > 0", becomes: "proof.Idle", pkg: "provider/mandate", tests: "TestConcludeTracks",
		},
		"LosersFail": {
			reason: "Pods that fail while they lose their requests fail no rollback.", file: "apis/evidence/sites.go",
			text: "state.IsBeforeSteps() && v != nil && ", becomes: "false && v != nil && ", pkg: "provider/mandate", tests: "TestConcludeTracks",
		},
		"StageSkipped": {
			reason: "The requests of a canary go before its pods.", file: "apis/directories/rollback.go",
			text: "case d.Aim.Restores:", becomes: "default:", pkg: "provider/mandate", tests: "TestFollowTracks",
		},
		"DrainUnseen": {
			reason: "A home is looked at once the requests of a track have ended.", file: "provider/witness/statement.go",
			text: " + statementOfTracks(o.Status.AtProvider.Sites)", becomes: "", pkg: "provider/witness", tests: "TestHasNewStatement",
		},
	}
}

// recordMutants record in another order, or misreport recorded events.
func recordMutants() map[string]mutant {
	const pkg = "provider/controller/gitdelivery"
	return map[string]mutant{
		"MandateFirst": {
			reason: "The request of the spec is recorded before the events of the mandate.", file: "provider/delivery/decision/mandate.go",
			text: "f.Witnesses.Conclude(f.Ledger.Recorded, r.Next)", becomes: "f.Witnesses.Conclude(f.Ledger.Recorded, f.Ledger.Recorded)", pkg: pkg, tests: "TestMandate$",
		},
		"TakenNotCompared": {
			reason: "A spec whose events are recorded is not behind because others follow them.", file: "provider/delivery/decision/fence.go",
			text: "isFollowed := l.Taken != nil && requested.LedTo(*l.Taken)", becomes: "isFollowed := l.Taken != nil && false", pkg: "provider/delivery/decision", tests: "TestFollowed",
		},
		"TakenComparedWithAfter": {
			reason: "Events on top of the head that a mandate went on from come too late.", file: "provider/delivery/decision/fence.go",
			text: "isFollowed := l.Taken != nil && requested.LedTo(*l.Taken)", becomes: "isFollowed := l.Taken != nil && requested.After == *l.Taken", pkg: "provider/delivery/decision", tests: "TestFollowed",
		},
		"TakenNotWritten": {
			reason: "The state says after which events a mandate went on.", file: "provider/state/ledger.go",
			text: "\tout.Taken = new(*head)\n", becomes: "", pkg: "provider/state", tests: "TestAppendMandated",
		},
		"BySpec": {
			reason: "The state says which events a mandate recorded.", file: "provider/state/ledger.go",
			text: "out.Events[recorded+i].By = RecorderMandate", becomes: "out.Events[recorded+i].By = \"\"", pkg: "provider/state", tests: "TestAppendMandated",
		},
		"OneVersion": {
			reason: "A refused push does not hold back the rollback of its revision.", file: "provider/delivery/decision/mandate.go",
			text: "return fmt.Sprint(f.AppliedPosition(), f.Recording.Next.ID)", becomes: "return fmt.Sprint()", pkg: "provider/delivery/decision", tests: "TestVersionByMandate",
		},
		"RefusalForgotten": {
			reason: "An earlier refusal of the repository is a reason to reject, although the push is tried again.", file: "provider/controller/gitdelivery/observe.go",
			text: "e.readyBefore, e.gatherer.AsRead = d.GetCondition(xpv2.TypeReady), copyHome(d)", becomes: "e.readyBefore, e.gatherer.AsRead = d.GetCondition(xpv2.TypeReady), d",
			pkg: pkg, tests: "TestMandate$",
		},
	}
}

// followerMutants let other repositories than the home go by what does not lead them, or prove what they do not.
func followerMutants() map[string]mutant {
	follow := func(tests string, m mutant) mutant {
		m.file, m.pkg, m.tests = "provider/mandate/follower.go", "provider/mandate", tests
		return m
	}
	return map[string]mutant{
		"FollowerOfAnyEcho": follow("TestHomeOf", mutant{
			reason: "A home leads other repositories for the revision that its status names.", text: " || recorded.Revision != observation.Mandate.Revision", becomes: "",
		}),
		"FollowerOfRejects": follow("TestHomeOf", mutant{
			reason: "A home that rolls nothing back leads no other repository.", text: "slices.Contains(observation.Mandate.May, step.KindRollBack)", becomes: "slices.Contains(observation.Mandate.May, step.KindReject)",
		}),
		"FollowerOfAnyLedger": follow("TestHomeOf", mutant{
			reason: "A copy of another ledger is not replaced.", text: "recorded != nil && recorded.Ledger == s.Ledger && ", becomes: "recorded != nil && ",
		}),
		"FollowerOfAnyEpoch": follow("TestHomeOf", mutant{
			reason: "A copy of an earlier epoch is not replaced.", text: " && recorded.Epoch == s.Epoch", becomes: "",
		}),
		"FollowerBeforeHome": follow("TestFollowHome", mutant{
			reason: "Another repository than the home goes to recorded positions alone.", text: "	s := *f.Home.Status.AtProvider.Ledger\n	switch isRolledBack",
			becomes: "	s, _ := f.Conclude(*f.Home.Status.AtProvider.Ledger, *f.Home.Status.AtProvider.Ledger)\n	switch isRolledBack",
		}),
		"FollowerOfSuperseded": {
			reason: "A home is not followed while another delivery shows a later epoch.", file: "apis/evidence/home.go",
			text: "return published.Epoch > s.Epoch || ", becomes: "return ", pkg: "provider/mandate", tests: "TestHomeOf",
		},
		"FollowerApart": follow("TestHomeOf", mutant{
			reason: "A repository that takes no part in the revision is left to the function.", text: " || partOfDelivery(d, s) == nil", becomes: "",
		}),
		"FollowerMovesRecord": follow("TestFollowHome", mutant{
			reason: "A repository that gets nothing back stays at its position.", text: "		return p, false\n	}\n	essentials", becomes: "	}\n	essentials",
		}),
		"FollowerTooEarly": follow("TestFollowWaveOfHome", mutant{
			reason: "A repository gets the trees of a later wave at its step.",
			text:   "if l.Step <= s.Cursor.Step {", becomes: "if l.Step >= 0 {",
		}),
		"FollowerMovesAgain": follow("TestFollowWaveOfHome", mutant{
			reason: "A step that brings nothing new to a repository moves no record.", text: "if !isNew {", becomes: "if false {",
		}),
		"FollowerOfOldSpec": follow("TestFollowHome", mutant{
			reason: "A spec that names the attempt has its trees.", text: "!isOvertaken(requested, s) || ", becomes: "",
		}),
		"FollowerUnreported": follow("TestConcludeInTwo", mutant{
			reason: "What another repository refused of another attempt does not count.", text: "!s.Position().HasReached(*p) || ", becomes: "",
		}),
		"FollowerOfEarlierHome": follow("TestFollowHomeInTracks", mutant{
			reason: "A repository does not follow a status that is older than its record.", text: " || f.Copy.Compare(s.Head) > 0", becomes: "",
		}),
		"FollowerKeepsRequests": follow("TestFollowHomeInTracks", mutant{
			reason: "A spec that requests a rollback with the trees of the step does not keep the requests.",
			text:   " || requested == s.Position() && returnsRequests(s)", becomes: "",
		}),
		"FollowerUnapplied": {
			reason: "The tracks of a repository that is not at the recorded position are unknown.", file: "provider/mandate/conclude.go",
			text: "return evidence.HasApplied(d, recorded.Position())", becomes: "return d.Status.AtProvider.Record != nil",
			pkg: "provider/mandate", tests: "TestConcludeTracksOfTwo",
		},
		"FollowerCannotStep": {
			reason: "A step in tracks waits for the function where another repository cannot follow.", file: "provider/mandate/forward.go",
			text: "return d == nil || f.lacksTreesOf(d, in, s)", becomes: "return d == nil || d == f.Home && f.lacksTreesOf(d, in, s)",
			pkg: "provider/mandate", tests: "TestHoldTracksOfTwo",
		},
		"FollowerUnproven": {
			reason: "A rollback ends once each repository has what it restores.", file: "provider/mandate/witness.go",
			text: " && f.areFollowersRestored(s)", becomes: "", pkg: "provider/mandate", tests: "TestConcludeInTwo",
		},
	}
}

// observerMutants let a SiteSync prove, and a Gate judge, a position that the home does not lead to.
func observerMutants() map[string]mutant {
	observe := func(tests string, m mutant) mutant {
		m.file, m.pkg, m.tests = "provider/mandate/observer.go", "provider/mandate", tests
		return m
	}
	return map[string]mutant{
		"SyncOfSilentHome": {
			reason: "A SiteSync follows a home that acts by its mandate.", file: "apis/evidence/home.go",
			text: "mayLead && ShowsMandate(home)", becomes: "mayLead", pkg: "apis/evidence", tests: "TestLeadingHome",
		},
		"SyncGoesBack": {
			reason: "A SiteSync does not go back while a mandate rests.", file: "apis/evidence/home.go",
			text: "(hasFollowed || mayLead", becomes: "(hasFollowed && mayLead || mayLead", pkg: "apis/evidence", tests: "TestLeadingHome",
		},
		"SyncOfRejected": {
			reason: "A SiteSync stays where its revision was rejected.", file: "apis/evidence/home.go",
			text: "(hasFollowed || mayLead && ", becomes: "(hasFollowed || (mayLead || true) && ", pkg: "apis/evidence", tests: "TestLeadingHome",
		},
		"SyncOfAnyController": observe("TestFollowLedger", mutant{
			reason: "A SiteSync follows no home of another controller.", text: "if isSiblingObject(sync, p.ClaimRef, &all[i]) {", becomes: "if len(all) > i {",
		}),
		"SyncUnapplied": observe("TestFollowDirectories", mutant{
			reason: "A directory that has not come to a step proves nothing of it.", text: " || d.Status.AtProvider.AppliedPosition() != s.Position():", becomes: ":",
		}),
		"SyncOfHomeAlone": observe("TestFollowDirectoriesOfTwo", mutant{
			reason: "A Site is observed by the directory of its own repository.", text: "evidence.HeldTree(d, site.Path)", becomes: "evidence.HeldTree(f.Home, site.Path)",
		}),
		"SyncWithoutRevision": observe("TestFollowDirectories", mutant{
			reason: "A directory that waits for its cluster proves nothing of a step.", text: "return hasRevision(delivered, s.Current.Number)", becomes: "return true",
		}),
		"SyncRestoresAny": observe("TestFollowDirectories", mutant{
			reason: "A rollback is proven by the tree of its target.", text: " || delivered.Tree == want", becomes: " || delivered.Tree == want || delivered.Tree != \"\"",
		}),
		"GateOfAnyAttempt": {
			reason: "A SiteSync whose spec names a rollback proves no step.", file: "provider/gates/verdict/evidence.go",
			text: "if !evidence.LatestPosition(s).HasReached(judged) || ", becomes: "if ", pkg: "provider/gates/verdict", tests: "TestFollowedSync",
		},
	}
}

// requestMutants let the provider do what no user asked of a deployment, or what needs the spec.
func requestMutants() map[string]mutant {
	return map[string]mutant{
		"RequestOfAnyNamespace": {
			reason: "A request of another namespace changes nothing.", file: "provider/mandate/request.go",
			text:    "return r.IsFor(home.Spec.ForProvider.ClaimRef) && r.GetNamespace() == home.GetNamespace()",
			becomes: "claim := home.Spec.ForProvider.ClaimRef\n\tclaim.Namespace = r.GetNamespace()\n\treturn r.IsFor(claim)", pkg: "provider/mandate", tests: "TestRequestsOf",
		},
		"RequestOfAnyKind": {
			reason: "A request about another kind asks this deployment for nothing.", file: "apis/rollout/v1alpha1/open.go",
			text: "	return r.Spec.DeploymentRef == ", becomes: "	c.Kind = r.Spec.DeploymentRef.Kind\n	return r.Spec.DeploymentRef == ", pkg: "provider/mandate", tests: "TestRequestsOf",
		},
		"RequestForward": {
			reason: "Requests that need the spec are left to the function.", file: "provider/mandate/request.go",
			text: "return r.Action == step.ActionAbort || ", becomes: "return r.Action != \"\" || ", pkg: "provider/mandate", tests: "TestRequestsOf",
		},
		"RequestTooLarge": {
			reason: "A request above the limit is not evaluated.", file: "apis/rollout/v1alpha1/open.go",
			text: " && !r.IsTooLarge()", becomes: "", pkg: "provider/mandate", tests: "TestRequestsOf",
		},
		"RequestInTracks": {
			reason: "A rollback in tracks that a user asks for needs the spec.", file: "apis/step/kind.go",
			text: " || !ledger.IsPlain(target.Track)", becomes: "", pkg: "apis/step", tests: "TestKindOfWithdrawal",
		},
		"RequestAhead": {
			reason: "A spec of the revision that a user rolled back does not have the trees of the rollback.", file: "provider/mandate/mandate.go",
			text: " || p.Revision == s.Withdraws)", becomes: ")", pkg: "provider/mandate", tests: "TestIsAhead",
		},
	}
}
