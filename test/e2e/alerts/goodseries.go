// Package alerts causes failures in a real installation, and verifies that each alert of package/observability fires on series that a real Prometheus server
// scraped, or on simulated series of conditions that no story here causes.
package alerts

// constantSeries is a series that has one value for all of a test.
func constantSeries(value string) string { return value + "+0x240" }

// healthySeries are the series of an installation without a fault: a deployment that succeeded, one under way, one after a user's rollback, and
// a canary that shifts; an Application that serves, one under construction, and Applications whose first and next images go out.
func healthySeries() map[string]string {
	return map[string]string{
		`intentplane_build_info{component="provider",version="1.2.0"}`:                                                            constantSeries("1"),
		`intentplane_build_info{component="function",version="1.2.0"}`:                                                            constantSeries("1"),
		`intentdeployment_info{namespace="team-b",name="well",phase="Succeeded",outcome="Succeeded",revision="3"}`:                constantSeries("1"),
		`intentdeployment_info{namespace="team-b",name="new",phase="Delivering",outcome="",revision="1"}`:                         constantSeries("1"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Stalled",reason="Progressing"}`:                          constantSeries("0"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Responsive",reason="WatchCircuitClosed"}`:                constantSeries("1"),
		`xintentdeployment_condition{namespace="team-b",name="well",type="Responsive",reason="WatchCircuitClosed"}`:               constantSeries("1"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Validated",reason="Passed"}`:                             constantSeries("1"),
		`intentdeployment_condition{namespace="team-b",name="new",type="Validated",reason="Measuring"}`:                           constantSeries("0"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Recorded",reason="Recorded"}`:                            constantSeries("1"),
		`intentdeployment_condition{namespace="team-b",name="new",type="Recorded",reason="NotRecorded"}`:                          constantSeries("0"),
		`intentplane_notifications_pending{instance="provider"}`:                                                                  constantSeries("0"),
		`intentdeployment_condition{namespace="team-b",name="new",type="Reconciling",reason="Paused"}`:                            constantSeries("1"),
		`application_condition{namespace="team-b",name="well",type="Stalled",reason="Progressing"}`:                               constantSeries("0"),
		`application_condition{namespace="team-b",name="well",type="Available",reason="Serving"}`:                                 constantSeries("1"),
		`application_condition{namespace="team-b",name="new",type="Stalled",reason="Progressing"}`:                                constantSeries("0"),
		`application_condition{namespace="team-b",name="new",type="Available",reason="NotDelivered"}`:                             constantSeries("0"),
		`application_condition{namespace="team-b",name="building",type="Available",reason="NotObserved"}`:                         constantSeries("0"),
		`application_condition{namespace="team-b",name="next",type="Available",reason="EarlierImage"}`:                            constantSeries("1"),
		`application_condition{namespace="team-b",name="back",type="Stalled",reason="RolledBack"}`:                                constantSeries("1"),
		`application_condition{namespace="team-b",name="back",type="Available",reason="EarlierImage"}`:                            constantSeries("1"),
		`intentdeployment_info{namespace="team-b",name="back",phase="Succeeded",outcome="RolledBack",revision="4",reason="Idle"}`: constantSeries("1"),
		`gitdelivery_condition{namespace="team-b",name="well-fleet",type="Ready",reason="Delivered"}`:                             constantSeries("1"),
		`gitdelivery_condition{namespace="team-b",name="new-fleet",type="Ready",reason="Delivering"}`:                             constantSeries("0"),
		`clusterproviderconfig_condition{name="well",type="Ready",reason="Reachable"}`:                                            constantSeries("1"),
		`providerconfig_condition{namespace="team-b",name="well",type="StateSigned",reason="StateUnsigned"}`:                      constantSeries("0"),
		`intentdeployment_info{namespace="team-b",name="healed",phase="Failed",outcome="Failed",revision="2",reason="NoSite"}`:    "1 stale",
	}
}
