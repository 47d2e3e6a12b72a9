package soak

import "maps"

// allRules are the rules of the function, by name, each with a story or a test that misses it. The stories whose beginning is written down have the numbers from
// 1000000 on.
func allRules() map[string]rule {
	out := map[string]rule{}
	for _, some := range []map[string]rule{ledgerRules(), revisionRules(), requestRules(), proofRules(), rollbackRules(), deliveryRules()} {
		maps.Copy(out, some)
	}
	return out
}

// ledgerRules are the rules by which a decision is recorded. Some of them are the provider's: the walk plays it.
func ledgerRules() map[string]rule {
	return map[string]rule{
		"CompareAndSwap": {
			reason: "Events are recorded only on top of the head that their writer saw.", file: "function/deployment/walk_ledger_test.go",
			at: "isBehind := «requested.After != recorded.Head»;", without: "false", story: 1000000,
		},
		"HomeFirst": {
			reason: "A follower gets recorded positions, and not proposed ones.", file: "function/deployment/resources.go",
			at: "recorded := «p.home.State»\n", without: "p.state", typ: "ledger.State", story: 9924,
		},
		"Recover": {
			reason: "A ledger that was lost continues from the newest copy.", file: "apis/step/home.go",
			at: "if «newest.IsClosed || !newest.Supersedes(s) && h.State.Successor == \"\"» {", without: "true", story: 3,
		},
		"RecoverFromStatus": {
			reason: "A ledger whose object is there continues from the status, which knows more than a copy.", file: "function/deployment/walk_ledger_test.go",
			at: "if «published.Seq == 0» || published.IsClosed", without: "true", story: 1000004,
		},
		"GoneElsewhere": {
			reason: "A home does not record a position behind the ledger in another repository.", file: "function/deployment/walk_ledger_test.go",
			at: "len(requested.Events) > 0 && «(next.Compare(knownHead) < 0 || isOther && next.Epoch <= knownHead.Epoch)» {", without: "isOther && false", test: "TestForcedMove",
		},
		"Withdrawn": {
			reason: "A home that the ledger is forced away from is asked to record nothing before the next one is.", file: "function/deployment/resources.go",
			at: "if «newest.Seq > 0» && ledgerhome.NameOf(observed)", without: "false", test: "TestForcedMove",
		},
		"OlderPosition": {
			reason: "A follower does not go back.", file: "function/deployment/walk_ledger_test.go",
			at: "case «desired.Position().Compare(r.position) < 0 || desired.Compare(r.head) < 0»:", without: "false", story: 121,
		},
		"ProvenPosition": {
			reason: "A proposed position proves nothing.", file: "function/deployment/decide.go",
			at: "if «s.Position() == home.State.Position()» &&", without: "true", story: 12,
		},
	}
}

// revisionRules are the rules about when the next revision starts.
func revisionRules() map[string]rule {
	return map[string]rule{
		"Hold": {
			reason: "A rejected revision is held.", file: "apis/step/start.go",
			at: "case «s.IsRejected() && d.hasIntentOf(*s.Current)», d.Request", without: "false", story: 4,
		},
		"OlderRenderer": {
			reason: "A revision of a newer renderer is never replaced by an older one.", file: "apis/step/step.go",
			at: "if «in.isOutranked(s)» {\n\t\treturn nil, HoldOutranked", without: "false", story: 138,
		},
		"EqualTrees": {
			reason: "A change of versions that leaves all trees equal does not make a new revision.", file: "apis/step/start.go",
			at: "case «d.HasSameTrees && d.hasIntentOf(*s.Current)»:", without: "false", story: 10,
		},
		"InFlight": {
			reason: "Changes of the catalog wait for the verdict in flight.", file: "apis/step/start.go",
			at: "case «d.VerdictIsComing && s.Verdict == nil && d.hasIntentOf(*s.Current)»:", without: "false", story: 8,
		},
	}
}

// requestRules are the rules about RolloutRequests.
func requestRules() map[string]rule {
	return map[string]rule{
		"ThisRevision": {
			reason: "A request takes effect on the revision that it names.", file: "apis/step/requests.go",
			at: "case «r.Revision < current.Number», r.Digest", without: "false", story: 12,
		},
		"AlreadyJudged": {
			reason: "A revision that was judged is not aborted.", file: "apis/step/requests.go",
			at: "func refuseJudged(s ledger.State) Result {\n\tif «s.Verdict != nil» {", without: "false", story: 48,
		},
		"AbortFirst": {
			reason: "Abort comes before all others.", file: "apis/step/requests.go",
			at: "range «actionsInOrder()» {", without: "append(actionsInOrder()[1:], actionsInOrder()[0])", typ: "[]Action", story: 52,
		},
		"TakenOnce": {
			reason: "A request takes effect once.", file: "apis/step/requests.go",
			at: "func isRequestTaken(s ledger.State, uid string) bool { return «slices.Contains(s.Requests, uid)» }", without: "false", test: "TestRequestIsTakenOnce",
		},
	}
}

// proofRules are the rules about proofs and verdicts.
func proofRules() map[string]rule {
	return map[string]rule{
		"Generation": {
			reason: "A status of an earlier generation does not count as evidence.", file: "apis/evidence/delivery.go",
			at: "ready.Status == status && «ready.ObservedGeneration == m.GetGeneration()»", without: "true", story: 36,
		},
		"ThisPosition": {
			reason: "A delivery's status of another position does not count as evidence.", file: "apis/evidence/delivery.go",
			at: "isOnlyRebased(d)) && «AsksForPosition(d, position) && HasApplied(d, position)»", without: "true", test: "TestIsDelivered",
		},
		"LiveFirst": {
			reason: "A revision without proof that it runs is not verified.", file: "apis/evidence/proof.go",
			at: "c.Sync == nil || «c.WatchesDesired() && AreSitesLive(c.ObservedSync, c.State.Position())»", without: "true", story: 10,
		},
		"GateFirst": {
			reason: "A step with a Gate waits for its verdict.", file: "apis/step/judge.go",
			at: "isOpen, pause := «s.IsGated() && !in.Proof.HasPassed && !in.Proof.IsHeld», s.", without: "false", story: 1,
		},
		"GateOfStep": {
			reason: "A Gate judges one step.", file: "apis/evidence/gate.go",
			at: "IsGateOfRevision(g, s) && «position.Step == s.Cursor.Step»", without: "true", story: 7,
		},
		"Refused": {
			reason: "A revision with a final refusal is rejected.", file: "apis/evidence/delivery.go",
			at: "if «awaitsRecording(d) || !hasReadyStatus(d, corev1.ConditionFalse) || !AsksForPosition(d, position) || !reportsOnPosition(d, position)» {", without: "true", story: 108,
		},
		"NotSynced": {
			reason: "A revision that does not run in time is rejected.", file: "apis/evidence/sites.go",
			at: "if «!hasReadyStatus(s, corev1.ConditionFalse) || !IsSyncAbout(s, position)» {", without: "true", story: 2,
		},
	}
}

// rollbackRules are the rules about rolling a revision back.
func rollbackRules() map[string]rule {
	return map[string]rule{
		"ProvenBack": {
			reason: "A rollback ends with the proof that the target runs.", file: "apis/step/rollback.go",
			at: "case «in.Proof.IsLive && !s.IsBeforeSteps()»:", without: "true", story: 2,
		},
		"AttemptsEnd": {
			reason: "A rollback has at most as many attempts as it may have.", file: "apis/step/rollback.go",
			at: "case «s.Cursor.Attempt >= in.Policy.MaxRetries»:", without: "false", story: 154,
		},
		"AttemptFails": {
			reason: "The next attempt begins when the last one failed.", file: "apis/step/rollback.go",
			at: "case «in.Proof.Failure == nil»:", without: "false", story: 2,
		},
		"Policy": {
			reason: "The policy is read before the first attempt.", file: "apis/step/rollback.go",
			at: "if «!in.Policy.wantsRollback(s) || in.Policy.MaxRetries == 0» {", without: "false", story: 86,
		},
		"PolicyAgain": {
			reason: "The policy is read before each further attempt.", file: "apis/step/rollback.go",
			at: "case «!in.Policy.wantsRollback(s)»:", without: "false", test: "TestRollBack",
		},
		"Cap": {
			reason: "Only so many revisions are rolled back within an hour.", file: "apis/step/rollback.go",
			at: "case «len(slices.DeleteFunc(earlier, isOutside)) >= limit»:", without: "false", test: "TestRollBack",
		},
		"WithdrawnTarget": {
			reason: "No rollback goes to a revision that a user rolled back past.", file: "apis/ledger/types.go",
			at: "return «!p.Withdrawn» && !p.TreesDropped", without: "true", story: 1000001,
		},
		"Touched": {
			reason: "Only directories that the revision changed are restored.", file: "function/compose/rollback.go",
			at: "!restores && («directories.HoldsTarget(t, held, s, want)» ||", without: "false", story: 46,
		},
		"Spared": {
			reason: "A directory that the revision was not to write yet is not restored.", file: "function/compose/rollback.go",
			at: "|| «isUntouched(t, d, isBack)») {", without: "false", test: "TestRestoreDirectories",
		},
	}
}

// deliveryRules are the rules about deliveries.
func deliveryRules() map[string]rule {
	return map[string]rule{
		"Steps": {
			reason: "Sites whose step has not come keep their trees.", file: "function/compose/step.go",
			at: "if «!s.HasReached(t.Site)» {", without: "false", story: 5,
		},
		"Clusters": {
			reason: "Nothing is delivered to a Site before its cluster is ready.", file: "function/compose/unreadysites.go",
			at: "«clustered[t.Site] && !through && !evidence.AdmitsTree(sync, s, t)» {", without: "false", story: 1,
		},
		"SuccessorFirst": {
			reason: "A left directory is removed when its successor runs.", file: "function/deployment/resources.go",
			at: "isReady := «phase.Ready(&status)»\n", without: "true", story: 126,
		},
	}
}
