package controlplane

import "time"

// ProcessorTime returns the processor time of each component, by its name: components of other clusters too, and a restarted component with its previous time.
// It is complete once Stop has returned.
func (c *ControlPlane) ProcessorTime() map[string]time.Duration {
	out := c.Runner.ProcessorTime()
	for _, k := range c.clusters {
		addProcessTimes(out, k.Runner.ProcessorTime())
	}
	return out
}

// addProcessTimes adds times to the times of the same names.
func addProcessTimes(out, times map[string]time.Duration) {
	for name, took := range times {
		out[name] += took
	}
}

// Processes returns the process ID of each running component of this control plane, by its name.
func (c *ControlPlane) Processes() map[string]int {
	return c.Runner.Running()
}
