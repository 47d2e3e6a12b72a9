// Package patience has the limit of all waits in tests.
package patience

import "time"

// Limit is the time that a test waits for something before it fails. A machine that does other work takes minutes for a step of seconds, and a longer limit costs
// a test that passes nothing. A check that something does not happen waits its whole time, and so has a shorter one of its own.
const Limit = 6 * time.Minute
