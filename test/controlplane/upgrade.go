package controlplane

import "context"

// UpgradeFunction kills the function, as kill -9 does, and serves another binary in its place from then on, with further flags. An
// empty path goes back to the first one. It returns an error if it does not listen.
func (c *ControlPlane) UpgradeFunction(ctx context.Context, binary string, args ...string) error {
	c.mu.Lock()
	c.upgraded = binary
	c.mu.Unlock()
	return c.RestartFunction(ctx, args...)
}

// functionBinary is the path of the program that serves the function now.
func (c *ControlPlane) functionBinary() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.upgraded != "" {
		return c.upgraded
	}
	return c.o.Function.Binary
}
