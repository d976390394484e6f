import { relative, sep } from 'node:path'
import { stopCoverage } from 'node:v8'
import { repository } from '../machine/repository.ts'

// Loaded into every process of a measured run. Only the tests of the two measured packages are measured: in the
// others it would add a sixth to the run's time, and few branches.
const [area = ''] = relative(repository.root, process.argv[1] ?? '').split(sep)
if (process.env.NODE_TEST_CONTEXT && !['server', 'agent'].includes(area)) {
  stopCoverage()
  // The processes that a test starts inherit the variable.
  delete process.env.NODE_V8_COVERAGE
}
