/**
 * Assignments: which agent is to have which skill.
 *
 * Owns the tables `skill_assignments` and `skill_removals`. Promises that a change is either whole or none, that it
 * stands whatever becomes of its delivery, and that what is taken from an agent is remembered until it is gone from the
 * workspace. Refuses to know how files reach an agent: `delivery` writes here how that went.
 */
export { assignmentRoutes } from './routes.ts'
export { type Assignments, createAssignments, type Deliver } from './service.ts'
export { type AssignmentRow, assignmentStore } from './store.ts'
