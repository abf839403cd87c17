module.exports.shout = (text) => `${text.toUpperCase()}!`;
