/**
 * Assignments: the skills of each agent.
 *
 * Owns the tables `skill_assignments` and `skill_removals`. A change is atomic and does not depend on its delivery. A
 * removed skill is recorded until it is deleted from the workspace. `delivery` sends the files and stores its results
 * here.
 */
export { assignmentRoutes } from './routes.ts'
export { type Assignments, createAssignments, type Deliver } from './service.ts'
export { type AssignmentRow, assignmentStore } from './store.ts'
