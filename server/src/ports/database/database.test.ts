import { forEachDialect } from '../../test/dialects.ts'
import { databaseSuite } from './suite.ts'

forEachDialect((dialect, open) => databaseSuite(dialect, open))
