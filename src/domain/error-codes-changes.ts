import type { ErrorCode } from "./error-code.ts"

/** Of files and patches, and of the approval to change them. */
export const changeErrorCodes: readonly ErrorCode[] = [
  {
    code: "ACODE-FS-001",
    meaning: "The path is malformed: empty, too long, or written so that it does not look like what it is.",
    action: "Give a plain path relative to the workspace, with / between names.",
  },
  {
    code: "ACODE-FS-002",
    meaning: "The file does not exist.",
    action: "List the directory to see what is there.",
  },
  {
    code: "ACODE-FS-003",
    meaning: "It is not a regular file, but a directory, a device or the like.",
    action: "Name a regular file.",
  },
  {
    code: "ACODE-FS-004",
    meaning: "The file has several names (hard links), and one may be outside the workspace.",
    action: "Make it a file of its own: cp it and mv the copy back.",
  },
  {
    code: "ACODE-FS-005",
    meaning: "Permission denied: this user may not read or change the file.",
    action: "Check owner and mode of the file and of its directory.",
  },
  {
    code: "ACODE-FS-006",
    meaning: "The file is too large to be handled whole.",
    action: "Ask for a range of lines, or use a command.",
  },
  {
    code: "ACODE-FS-007",
    meaning: "The file is not what it was when it was read; somebody changed it meanwhile.",
    action: "Read it again and repeat the change on what it holds now.",
  },
  {
    code: "ACODE-FS-008",
    meaning: "Something of this name exists already.",
    action: "Choose another name, or modify the file that is there.",
  },
  {
    code: "ACODE-FS-009",
    meaning: "The file is not text, or its encoding lacks a character of the new text.",
    action: "Use a command that understands this kind of file.",
  },
  {
    code: "ACODE-FS-010",
    meaning: "The disk is full, read-only or failing; the file is as it was.",
    action: "Make room or make the file system writable, then try again.",
  },
  {
    code: "ACODE-PAT-001",
    meaning: "The patch cannot be read.",
    action: "Send a unified diff with @@ lines, or edits with search and replace.",
  },
  {
    code: "ACODE-PAT-002",
    meaning: "The patch does not fit the file; the message shows what was expected and what is there.",
    action: "Read the file again and repeat the change on what it holds now.",
  },
  {
    code: "ACODE-PAT-003",
    meaning: "The patch asks for something that is not supported, such as a rename or a binary change.",
    action: "Write the new file and delete the old one instead.",
  },
  {
    code: "ACODE-PAT-004",
    meaning: "The change fits more than one place of the file.",
    action: "Include more of the lines around the change.",
  },
  {
    code: "ACODE-PAT-005",
    meaning: "The patch makes a file that exists, or changes or deletes one that does not.",
    action: "Check whether the file is to be made, changed or deleted.",
  },
  {
    code: "ACODE-YES-001",
    meaning: "--yes names a scope that does not exist.",
    action: "Use one of the scopes the message lists.",
  },
  {
    code: "ACODE-YES-002",
    meaning: "A scope of --yes has a modifier it does not know.",
    action: "Leave the modifier out, or use one of that scope.",
  },
  {
    code: "ACODE-YES-003",
    meaning: "--yes=all was given without --ack-danger.",
    action: "Name the scopes that are needed, or add --ack-danger.",
  },
  {
    code: "ACODE-YES-004",
    meaning: "A scope of --yes is empty.",
    action: "Separate scopes by single commas.",
  },
  {
    code: "ACODE-YES-005",
    meaning: "--yes=none contradicts the other scopes.",
    action: "Give none alone, or leave it out.",
  },
]
